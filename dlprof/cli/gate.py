"""`dlprof gate`: stop a slow-down before it lands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.gate import Component

EXAMPLES = """\
examples:
  dlprof trace train.py --repeat 5 -o runs/base        on the main branch
  dlprof trace train.py --repeat 5 -o runs/new         on the change
  dlprof gate runs/base runs/new                       exit code 1 when a part became more than 5 % slower
  dlprof gate runs/base runs/new --max-regression 10% --only fit/steps,wall

A part has regressed when it grew beyond noise, beyond the limit, and by more than 1 % of the wall time.
With three runs or more on each side, noise is a 95 % interval; with fewer, 20 % of the part or 50 ms."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    base: str
    new: str
    max_regression: str
    only: str | None
    anyway: bool
    json: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("base", metavar="BASE", help="the version before: a run, or a folder of repeats")
    parser.add_argument("new", metavar="NEW", nargs="?", default="last", help="the version now (default: `last`)")
    parser.add_argument("--max-regression", default="5%", metavar="P", help="growth that may pass (default: 5%%)")
    parser.add_argument("--only", metavar="PARTS", help="judge only these parts and what is below them: fit,wall")
    parser.add_argument("--anyway", action="store_true", help="judge runs that are not comparable, too")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.gate/1, see `dlprof help json`)")


def run(args: Arguments) -> int:
    """Print a line for the log; 1 when something regressed."""
    from dlprof.analysis import compare, gate
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_sides
    from dlprof.report import gate_report
    from dlprof.report.json_text import print_json

    limit = _limit(args.max_regression)
    base, new = open_sides([args.base, args.new])
    comparison = compare.compare(new, base)
    if not comparison.parity.comparable and not args.anyway:
        why = "; ".join(comparison.parity.why_not)
        raise UsageError(f"The runs are not comparable, because {why} (A is NEW, B is BASE).", hint="--anyway")
    parts = _chosen(gate.components(comparison, limit), args.only)
    if args.json:
        print_json(gate_report.as_json(comparison, parts, limit))
    else:
        print("\n".join(gate_report.as_lines(parts, limit, min(len(base.runs), len(new.runs)))))
    return 1 if any(part.regressed for part in parts) else 0


def _limit(text: str) -> float:
    """The share that `5%` or `0.05` stands for."""
    from dlprof.errors import UsageError

    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"--max-regression must be a share such as 5% or 0.05, not {text}.")
    return float(match[1]) / (100 if match[2] else 1)


def _chosen(parts: Sequence[Component], only: str | None) -> Sequence[Component]:
    from dlprof.errors import UsageError

    if only is None:
        return parts
    names = [name.strip() for name in only.split(",") if name.strip()]
    chosen = [part for part in parts if any(part.name == name or part.name.startswith(f"{name}/") for name in names)]
    if not chosen:
        raise UsageError(f"No part is called {only}.", hint=f"there are: {', '.join(part.name for part in parts)}")
    return chosen
