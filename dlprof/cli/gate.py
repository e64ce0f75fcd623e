"""`dlprof gate`: stop a slow-down before it lands."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.compare import Comparison
    from dlprof.analysis.gate import Component
    from dlprof.report.gate_report import Cause, GateReport, Outcome, Refusal

EXAMPLES = """\
examples:
  dlprof trace train.py --repeat 5 -o runs/base        on the main branch
  dlprof trace train.py --repeat 5 -o runs/new         on the change
  dlprof gate runs/base runs/new                       exit code 1 when a part became more than 5 % slower
  dlprof gate runs/base runs/new --max-regression 10% --only fit/steps,wall
  dlprof gate runs/base runs/new --format junit > gate.xml       for CI systems that show tests
  dlprof gate runs/base runs/new --format markdown               for a comment on a pull request
  dlprof gate runs/base runs/new --format github                 errors at the lines that are to blame

A part has regressed when it grew beyond noise, beyond the limit, and by more than 1 % of the wall time.
With three runs or more on each side noise is what 95 % intervals show, all parts taken together; with fewer,
20 % of the part, 50 ms and 5 % of the wall time (of the whole: 10 % and 100 ms).
Exit codes: 0 nothing became slower; 1 a part did; 75 inconclusive, measure again: the machine was in another
state or is another one, which may explain what grew, or hide it (--doubtful fail: 1; --doubtful pass: 0);
64 the runs did different work and are not judged; others: `dlprof help exit-codes`."""


FORMATS = ("text", "junit", "markdown", "github", "json")
"""What the answer can be printed as."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    base: str
    new: str
    max_regression: str
    only: str | None
    anyway: bool
    doubtful: str
    format: str
    json: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("base", metavar="BASE", help="the version before: a run, or a folder of repeats")
    parser.add_argument("new", metavar="NEW", nargs="?", default="last", help="the version now (default: `last`)")
    parser.add_argument(
        "--max-regression", default="5%", metavar="P", help="growth that may pass: 5%% or 0.05 (default: 5%%)"
    )
    parser.add_argument("--only", metavar="PARTS", help="judge only these parts and what is below them: fit,wall")
    parser.add_argument("--anyway", action="store_true", help="judge runs that are not comparable, too")
    parser.add_argument(
        "--doubtful",
        choices=("again", "fail", "pass"),
        default="again",
        help="what it is where the state of the machine may explain what grew: again (exit code 75), fail (1) or "
        "pass (0); default: again",
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help=f"{', '.join(FORMATS)} (default: text)")
    parser.add_argument("--json", action="store_true", help="the same as --format json (see `dlprof help json`)")


def run(args: Arguments) -> int:
    """Print a line for the log; 1 when something regressed, 75 when nobody can tell."""
    from dlprof.errors import DlprofError, ExitCode, UsageError
    from dlprof.report import gate_report
    from dlprof.report.json_text import print_json

    form = "json" if args.json else args.format
    try:
        limit, comparison, parts = _judged(args)
    except DlprofError as error:
        failed = gate_report.failure(error, args.base, args.new)
        _print_refusal(form, failed, gate_report.failed_as_json(failed))
        raise
    before, now = gate_report.paths(comparison.b), gate_report.paths(comparison.a)
    if not parts:
        why = _why_not(comparison)
        refused = gate_report.Refusal("not-comparable", why, before, now)
        _print_refusal(form, refused, gate_report.as_json(comparison, (), limit))
        raise UsageError(why, hint=_instead(comparison, args.base))
    doubtful = gate_report.Doubtful(args.doubtful)
    has_regressed = any(part.regressed for part in parts)
    if form == "json":
        print_json(gate_report.as_json(comparison, parts, limit, doubtful))
    else:
        causes = _causes(comparison) if has_regressed and form != "text" else ()
        notes = gate_report.notes(comparison)
        _print(form, gate_report.Outcome(parts, limit, before, now, causes, notes, doubtful))
    status = gate_report.status(parts, doubtful)
    if status is gate_report.Status.INCONCLUSIVE:
        return ExitCode.INCONCLUSIVE
    return 1 if status is gate_report.Status.FAILED else 0


def _judged(args: Arguments) -> tuple[float, Comparison, Sequence[Component]]:
    """The limit, both sides compared, and the parts; without any the runs are not comparable, and are not judged."""
    from dlprof.analysis import compare, gate
    from dlprof.cli.shares import share
    from dlprof.pipeline.opening import open_sides

    limit = share(args.max_regression, "--max-regression")
    base, new = open_sides([args.base, args.new])
    comparison = compare.compare(new, base)
    if not comparison.parity.comparable and not args.anyway:
        return limit, comparison, ()
    parts = gate.components(comparison, limit)
    if args.only is None:
        return limit, comparison, parts
    names = {part.name for part in _chosen(parts, args.only)}
    return limit, comparison, gate.components(comparison, limit, names)


def _why_not(comparison: Comparison) -> str:
    """Why the runs are not judged, and what helps."""
    why = "; ".join(comparison.parity.why_not)
    helps = "".join(f" What helps with {what}" for what in comparison.parity.advice)
    return f"The runs are not comparable, because {why} (A is NEW, B is BASE).{helps}"


def _instead(comparison: Comparison, base: str) -> str:
    """What to type instead: a run is never judged by itself."""
    if comparison.parity.same_run:
        return f"dlprof trace SCRIPT, with the change; then dlprof gate {base} last"
    return "--anyway"


def _print_refusal(form: str, refused: Refusal, as_json: GateReport) -> None:
    """What a CI system reads must be whole also where nothing is judged; people are told on standard error."""
    from dlprof.report import gate_formats
    from dlprof.report.json_text import print_json

    if form == "json":
        print_json(as_json)
    elif form == "junit":
        print(gate_formats.refused_as_junit(refused))
    elif form == "markdown":
        print(gate_formats.refused_as_markdown(refused), end="")
    elif form == "github":
        print(gate_formats.refused_as_github(refused))


def _print(form: str, found: Outcome) -> None:
    from dlprof.report import gate_formats, gate_report

    if form == "junit":
        print(gate_formats.as_junit(found))
    elif form == "markdown":
        print(gate_formats.as_markdown(found), end="")
    else:
        print("\n".join(gate_formats.as_github(found) if form == "github" else gate_report.as_lines(found)))


def _causes(comparison: Comparison) -> Sequence[Cause]:
    """Why the new version is slower; none where the runs cannot be diagnosed: the gate has judged them all the same."""
    from dlprof.analysis.findings.diagnose import diagnose_gap
    from dlprof.errors import UsageError
    from dlprof.report.gate_report import Cause

    try:
        found = diagnose_gap(comparison).findings
    except UsageError:
        return ()
    folder = Path(comparison.a.runs[0].manifest.script_folder)
    return [
        Cause(
            one.heading,
            one.claim,
            one.next_step,
            one.at_stake_ns,
            place,
            one.line if place else None,
            one.confidence,
            one.is_question,
        )
        for one in found
        for place in [_in_repository(folder, one.file)]
    ]


def _in_repository(folder: Path, file: str | None) -> str | None:
    """A file of the new version as the CI system names it: from the root of the checkout.

    Args:
        folder: The script's, when it ran.
        file: As runs name it; None: there is none.
    """
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    if file is None or file.startswith("<"):
        return None
    places = [place for place in ((folder / file).resolve(), (root / file).resolve()) if place.is_relative_to(root)]
    return next((place.relative_to(root).as_posix() for place in places if place.is_file()), None)


def _chosen(parts: Sequence[Component], only: str) -> Sequence[Component]:
    from dlprof.errors import UsageError

    names = [name.strip() for name in only.split(",") if name.strip()]
    chosen = [part for part in parts if any(part.name == name or part.name.startswith(f"{name}/") for name in names)]
    if not chosen:
        raise UsageError(f"No part is called {only}.", hint=f"there are: {', '.join(part.name for part in parts)}")
    return chosen
