"""Runs public scripts bare and traced, and prints what is told of each: see docs/contributing.md.

python -m tests.public                            all of them
python -m tests.public --only mnist vae           those with one of these texts in their names
python -m tests.public --clones DIR               take the scripts from clones below DIR, instead of from GitHub
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.public.case import Case
from tests.public.run import Result, Workplace
from tests.public.tables import CASES


def main() -> int:
    """1 when anything is told wrongly."""
    args = _parser().parse_args()
    cases = [case for case in CASES if any(part in case.name for part in args.only)]
    if args.list:
        print("\n".join(map(_listed, cases)))
        return 0
    place = Workplace(args.work.resolve(), args.clones, tuple(args.flags))
    failed = sum(_show(place, case) for case in cases)
    print(f"{len(cases) - failed} of {len(cases)} scripts are told as they are")
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="PART", help="parts of names")
    parser.add_argument("--list", action="store_true", help="print what is known of each, and run nothing")
    parser.add_argument("--clones", type=Path, metavar="DIR", help="folder with clones: OWNER/NAME or OWNER+NAME/repo")
    default = Path(tempfile.gettempdir()) / "dlprof-public"
    parser.add_argument("--work", type=Path, default=default, metavar="DIR", help="environments, scripts and runs")
    parser.add_argument("--flags", nargs="*", default=[], metavar="FLAG", help="more flags of `dlprof trace`")
    return parser


def _show(place: Workplace, case: Case) -> bool:
    """Run a case and print it; whether it failed."""
    begin = time.monotonic()
    result = place.result(case)
    print(f"{'FAIL' if result.wrong else 'ok  '} {case.name:<28} {_told(result)} ({time.monotonic() - begin:.0f} s)")
    for text in result.wrong:
        print(f"     - {text}")
    print(end="", flush=True)
    return bool(result.wrong)


def _told(result: Result) -> str:
    found = result.found
    if found is None:
        return "no report"
    loops = ", ".join(f"{one.name} {one.runs}/{one.epochs}/{one.steps}" for one in found.loops)
    unnamed = "no kernels" if found.unnamed_percent is None else f"{found.unnamed_percent:.0f} % of kernels unnamed"
    return f"{loops or 'no loops'}; script {found.script_percent:.1f} % ({found.script_in_all_percent:.0f} % in all); {len(found.layers)} layers, {unnamed}"


def _listed(case: Case) -> str:
    source = case.source
    return f"{case.name:<28} {case.framework:<14} {source.repository}@{source.commit[:8]} {source.path}: {case.counted}"


if __name__ == "__main__":
    raise SystemExit(main())
