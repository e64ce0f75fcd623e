"""`dlprof demo`: a pair of stored runs, to try report, view, compare and diagnose on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from dlprof.errors import UsageError

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.compare import Comparison
    from dlprof.store.run import Run

SCHEMA = "dlprof.demo/1"
EXAMPLES = """\
examples:
  dlprof demo                    into dlprof-demo/, with the answer and what to type next
  dlprof demo my/demo            the same as -o my/demo
  dlprof demo --json

The runs are real: a scenario of dlprof on two backends. Folders, names of machines and users were taken out, as
`dlprof redact` does, and raw artifacts are not there. No framework is needed to look at them, and no network."""

_FOLDER = "dlprof-demo"


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    folder: str | None
    output: str | None
    json: bool
    plain: bool


class Next(TypedDict):
    """What to type next, and what it tells."""

    command: str
    about: str


class DemoReport(TypedDict):
    """What `--json` prints: the slow run and the fast one, as they are typed."""

    schema: str
    folder: str
    runs: list[str]
    next: list[Next]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("folder", nargs="?", metavar="DIR", help=f"folder of the runs (default: {_FOLDER})")
    parser.add_argument("-o", dest="output", metavar="DIR", help="the same, as other commands have it")
    parser.add_argument("--json", action="store_true", help=f"print JSON ({SCHEMA}): the runs, and what to type next")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Unpack the runs, and show the answer."""
    from dlprof.pipeline.opening import open_run
    from dlprof.report.json_text import print_json
    from dlprof.shipped import demo

    if args.folder and args.output:
        raise UsageError("Give the folder once: as DIR or with -o.")
    folder = Path(args.folder or args.output or _FOLDER)
    unpacked = demo.unpack(folder)
    names = [str(folder / one.path.name) for one in unpacked.runs]
    slow, fast = sorted(names, key=lambda name: -(open_run(name).wall_ns or 0))
    following = _following(slow, fast)
    if args.json:
        then = [Next(command=command, about=about) for command, about in following]
        print_json(DemoReport(schema=SCHEMA, folder=str(folder), runs=[slow, fast], next=then))
        return 0
    _show(slow, fast, plain=args.plain)
    print("\nNow you:")
    width = max(len(command) for command, _ in following)
    for command, about in following:
        print(f"  {command:<{width}}   {about}")
    return 0


def _show(slow: str, fast: str, *, plain: bool) -> None:
    """The answer of the slow run, and what the gap to the other one is."""
    import textwrap

    from dlprof.analysis import compare
    from dlprof.pipeline.opening import open_sides
    from dlprof.report import text
    from dlprof.report.gap_words import verdict

    sides = open_sides([slow, fast])
    gap = compare.compare(*sides)
    print(f"Two stored runs of one script, {_script(gap)}:")
    for side, name in zip(sides, (slow, fast), strict=True):
        print(f"  {name:<{max(len(slow), len(fast))}}   {_where(side.runs[0])}")
    print(f"\n$ dlprof report {slow}")
    text.print_answer(sides[0].runs[0], file=sys.stdout, plain=plain)
    print(f"\n$ dlprof compare {slow} {fast}\n")
    print(textwrap.fill(verdict(gap), 100))


def _script(gap: Comparison) -> str:
    command = gap.a.runs[0].manifest.command
    return " ".join([command.script or "", *command.argv])


def _where(run: Run) -> str:
    """On what it ran, as its manifest has it."""
    told = run.manifest
    engine = f"{told.engine.name} {told.engine.version}" if told.engine else told.backend.title
    return f"{engine}, on {told.machine.usable_cores} cores, {told.created[:10]}"


def _following(slow: str, fast: str) -> Sequence[tuple[str, str]]:
    """What to type next, and what it does."""
    return (
        (f"dlprof report {slow} --full", "all sections: phases, steps, kernels, lines, memory, costs"),
        (f"dlprof compare {slow} {fast}", "the gap, part by part"),
        (f"dlprof diagnose {slow} {fast}", "its causes, with the time at stake"),
        (f"dlprof view {slow}", "timeline, flame graphs and lines in the browser"),
        (f"dlprof view {slow} {fast}", "both beside each other"),
        ("dlprof trace YOUR_SCRIPT.py", "the same of your own training"),
    )
