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
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.diagnose/1, see docs/json.md)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: argparse.Namespace) -> int:
    """Print the findings."""
    from dlprof.errors import UsageError

    if len(args.runs) > 2:
        raise UsageError("A diagnosis takes one run, or two.", hint="dlprof compare takes more")
    found, title, note, names, parity = _one(args.runs[0]) if len(args.runs) == 1 else _two(args.runs)
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
    from dlprof.opening import open_run
    from dlprof.units import duration

    found = open_run(name)
    title = f"Where {found.name} loses time, of {duration(found.wall_ns)}"
    return diagnose.diagnose(found), title, "", [found.name], None


def _two(names: list[str]) -> tuple[Any, ...]:
    from dlprof.analysis import compare
    from dlprof.analysis.findings import diagnose
    from dlprof.opening import open_sides
    from dlprof.report.compare_text import verdict

    a, b = open_sides(names)
    found = compare.compare(a, b)
    title = f"Why {a.label} is slower than {b.label}"
    notes = [f"Not comparable, because {'; '.join(found.parity.why_not)}."] if found.parity.why_not else []
    if found.gap_ns <= 0 and not found.noise:
        notes.append(f"It is not: turn them around (dlprof diagnose {names[1]} {names[0]}).")
    notes.append(verdict(found))
    runs = [side.runs[0].name for side in (a, b)]
    return diagnose.diagnose_gap(found), title, " ".join(notes), runs, found.parity
