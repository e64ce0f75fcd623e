"""Runs the cases, bare and traced, and prints what differs.

python -m tests.conformance                     all of them, on two processors
python -m tests.conformance -k signals -n 1     those with `signals` in their name
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.compare import Verdict, judge
from tests.conformance.interpreters import MissingError
from tests.conformance.tables import all_cases

_SHOWN = 16
_COLUMNS = 240


def main() -> int:
    """1 when anything differs that is not documented."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "-k", nargs="+", default=[""], metavar="PATTERN", help="parts of names of cases, or patterns with *"
    )
    parser.add_argument("-n", type=int, default=2, metavar="JOBS", help="cases at a time (default: 2)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases only")
    args = parser.parse_args()
    cases = [case for case in all_cases() if any(fnmatch.fnmatch(case.name, f"*{one}*") for one in args.k)]
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    with tempfile.TemporaryDirectory(prefix="dlprof-conformance-") as folder, ThreadPoolExecutor(args.n) as pool:
        places = [Path(folder) / str(number) for number in range(len(cases))]
        verdicts = list(pool.map(_told, cases, places))
    return _summary(verdicts)


def _told(case: Case, path: Path) -> Verdict | None:
    """Judge one, and say so at once; None: it was skipped."""
    verdict = _judged(case, path)
    if isinstance(verdict, str):
        print(f"skipped     {case.name}: {verdict}", flush=True)
        return None
    lines = [*verdict.lines[:_SHOWN], *(["..."] if len(verdict.lines) > _SHOWN else [])]
    lines = [line[:_COLUMNS] for line in lines]
    print("\n            ".join([f"{_word(verdict):<11} {case.name}", *lines]), flush=True)
    return verdict


def _judged(case: Case, path: Path) -> Verdict | str:
    """A verdict, or why there is none; what goes wrong in the suite itself is no reason to leave the other cases out."""
    try:
        return judge(case, path)
    except MissingError as error:
        return str(error)
    except Exception:  # noqa: BLE001
        return Verdict(case, (), ("the suite itself failed", *traceback.format_exc().splitlines()))


def _word(verdict: Verdict) -> str:
    return "differs" if verdict.lines else "documented" if verdict.documented else "equal"


def _summary(verdicts: list[Verdict | None]) -> int:
    words = [_word(verdict) if verdict is not None else "skipped" for verdict in verdicts]
    print()
    for word in ("equal", "documented", "differs", "skipped"):
        print(f"{word:<11} {words.count(word):>4}")
    print(f"{'cases':<11} {len(words):>4}")
    for one in sorted({why.why for verdict in verdicts if verdict is not None for why in verdict.documented}):
        print(f"documented: {one}")
    return 1 if "differs" in words else 0


if __name__ == "__main__":
    sys.exit(main())
