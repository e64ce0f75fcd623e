"""`dlprof diagnose`: the causes of a run's time, or of the gap between two runs, ranked."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

EXAMPLES = """\
examples:
  dlprof diagnose last                           why does it take that long?
  dlprof diagnose runs/tensorflow runs/mxnet     why is the first slower than the second?
  dlprof diagnose last --evidence                with the rows behind each finding
  dlprof diagnose last --confirm                 try the remedies that need no change to your files
  dlprof diagnose last --json

Every finding has the time at stake; no time is counted twice. A rule whose signal is missing says so
(--evidence). docs/findings.md describes every finding, docs/exam.md how often they are right."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="a run; or the slow and the fast one (each also repeats)"
    )
    parser.add_argument("--evidence", action="store_true", help="show rows and queries, and rules that could not tell")
    parser.add_argument(
        "--confirm", action="store_true", help="try the remedies: run the script again with and without"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds of --confirm (default: 3)")
    parser.add_argument("--yes", action="store_true", help="do not ask before --confirm runs the script")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.diagnose/1, see docs/json.md)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    from dlprof.errors import UsageError

    if len(args.runs) > 2:
        raise UsageError("A diagnosis takes one run, or two.", hint="dlprof compare takes more")
    run_, found, title, note, names, parity = _one(args.runs[0]) if len(args.runs) == 1 else _two(args.runs)
    if args.confirm:
        _confirm(args, run_, found)
    from dlprof.trials import confirm

    found = confirm.with_trials(run_, found)
    if args.json:
        from dlprof.report import diagnosis_json

        print(json.dumps(diagnosis_json.as_json(found, names, parity), indent=1, default=str))
    else:
        from dlprof.report import diagnosis_text

        diagnosis_text.print_diagnosis(
            found, title, file=sys.stdout, evidence=args.evidence, plain=args.plain, note=note
        )
    return 0


def _one(name: str) -> tuple[Any, ...]:
    from dlprof.analysis.findings import diagnose
    from dlprof.pipeline.opening import open_run
    from dlprof.units import duration

    found = open_run(name)
    title = f"Where {found.name} loses time, of {duration(found.wall_ns)}"
    return found, diagnose.diagnose(found), title, "", [found.name], None


def _two(names: list[str]) -> tuple[Any, ...]:
    from dlprof.analysis import compare
    from dlprof.analysis.findings import diagnose
    from dlprof.pipeline.opening import open_sides
    from dlprof.report.compare_text import verdict

    a, b = open_sides(names)
    found = compare.compare(a, b)
    title = f"Why {a.label} is slower than {b.label}"
    notes = [f"Not comparable, because {'; '.join(found.parity.why_not)}."] if found.parity.why_not else []
    if found.gap_ns <= 0 and not found.noise:
        notes.append(f"It is not: turn them around (dlprof diagnose {names[1]} {names[0]}).")
    notes.append(verdict(found))
    runs = [side.runs[0].name for side in (a, b)]
    return a.runs[0], diagnose.diagnose_gap(found), title, " ".join(notes), runs, found.parity


def _confirm(args: argparse.Namespace, run_: Any, found: Any) -> None:
    """Try what can be tried, if the user agrees."""
    from dlprof.errors import UsageError
    from dlprof.launch import children
    from dlprof.trials import confirm

    if not 1 <= args.repeat <= 100:
        raise UsageError(f"--repeat must lie between 1 and 100, not {args.repeat}.")
    findings = confirm.candidates(found)
    if not findings:
        _say("nothing to try: no finding of 5 % or more has a remedy that leaves your files alone")
        return
    minutes = confirm.seconds(run_, len(findings), args.repeat) / 60
    what = "; ".join(f"{one.slug}: {one.remedy.title}" for one in findings if one.remedy)
    _say(f"to try: {what}; the script runs {(len(findings) + 1) * args.repeat} times, about {minutes:.1f} min")
    if not args.yes and not _agreed():
        _say("nothing was run")
        return
    with children.ending_on_sigterm():
        trials = confirm.tries(run_, findings, _say, repeats=args.repeat)
    for trial in trials:
        _say(f"{trial.slug}: {trial.state}")


def _agreed() -> bool:
    from dlprof.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError("--confirm runs the script again, and there is no terminal to ask at.", hint="--yes")
    print("dlprof: go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say(line: str) -> None:
    print(f"dlprof: {line}", file=sys.stderr, flush=True)
