"""`dlprof report`: where the time of a run went."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlprof import run_names
from dlprof.errors import NoInputError, UsageError, nearest
from dlprof.report.section_names import SECTIONS

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.store.run import Run

EXAMPLES = """\
examples:
  dlprof report last                         the answer, in 30 lines at most
  dlprof report last --full                  all of it
  dlprof report last kernels lines           some sections
  dlprof report kernels                      the same of the last run
  dlprof report dlprof_runs/20261120-101500-mlp-mxnet lines --top 20
  dlprof report last --json | jq '.verdict, .findings'
  dlprof report last --html report.html      one page with charts and the timeline
  dlprof report runs/ddp                     ranks of one training: steps, skew, straggler (dlprof help ranks)

RUN is a path, the name of a run below dlprof_runs/, or `last`, which is meant where no run is named."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    words: Sequence[str]
    """A run, and sections of its report."""
    full: bool
    json: bool
    html: str | None
    top: int
    plain: bool
    rebuild: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.usage = "dlprof report [RUN] [SECTION ...] [options]"
    parser.add_argument(
        "words",
        metavar="RUN SECTION",
        nargs="*",
        help=f"run folder, name of a run, or `last` (default); sections: {', '.join(SECTIONS)}",
    )
    parser.add_argument("--full", action="store_true", help="print all sections")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.report/1, see `dlprof help json`)")
    parser.add_argument("--html", metavar="FILE", help="write a page that needs no network (see `dlprof view`)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="rows of lines and kernels (default: 10)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")
    parser.add_argument("--rebuild", action="store_true", help="make the tables again from the raw artifacts")


def run(args: Arguments) -> int:
    """Print the report."""
    name, sections = asked(args.words)
    if args.html:
        return _write_page(name, Path(args.html), rebuild=args.rebuild)
    if not sections and _print_ranks(name, args):
        return 0
    from dlprof.pipeline.opening import open_run

    opened = open_run(name, rebuild=args.rebuild)
    if args.json:
        _print_json(opened, args.top)
    else:
        _print_text(opened, sections, args)
    return 0


def _print_ranks(name: str, args: Arguments) -> bool:
    """Print the report of a run of ranks; whether it is one. What a program that started ranks did itself follows."""
    from dlprof.pipeline import ranked

    found = ranked.find(name)
    if found is None:
        return False
    from dlprof.analysis import ranks
    from dlprof.report import ranks_causes, ranks_json, ranks_text
    from dlprof.report.json_text import print_json

    summary = ranks.of_run(found)
    if args.json:
        print_json(ranks_json.as_json(found, summary))
        return True
    causes = ranks_causes.of_run(found, summary)
    ranks_text.print_ranks(found, summary, causes, file=sys.stdout, full=args.full, plain=args.plain)
    if args.full and found.program is not None:
        _print_text(found.program, (), args)
    return True


def asked(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The run and the sections that some words name.

    Raises:
        UsageError: There is no such section.
    """
    first = words[0] if words else "last"
    sections = words[1:]
    if not run_names.is_run(first) and (first in SECTIONS or _is_misspelt(first)):
        first, sections = "last", words
    unknown = next((section for section in sections if section not in SECTIONS), None)
    if unknown is not None:
        raise UsageError(
            f"A report has no section {unknown}.", near=nearest(unknown, SECTIONS), hint=f"one of {', '.join(SECTIONS)}"
        )
    return first, sections


def _is_misspelt(word: str) -> bool:
    """Whether a word that is no run is nearer to a section."""
    try:
        run_names.resolve(word)
    except NoInputError as error:
        return "did you mean" not in error.message and bool(nearest(word, SECTIONS))
    return False


def _write_page(name: str, target: Path, *, rebuild: bool) -> int:
    from dlprof.cli import view
    from dlprof.report.html import files

    print(files.write(view.run_page(name, rebuild=rebuild), target))
    return 0


def _print_json(opened: Run, top: int) -> None:
    import math

    from dlprof.analysis.findings.diagnose import brief
    from dlprof.report import summary
    from dlprof.report.json_text import print_json

    print_json(summary.summarise(opened, top=top, diagnosis=brief(opened, within_s=math.inf)))


def _print_text(opened: Run, sections: Sequence[str], args: Arguments) -> None:
    from dlprof.report import text

    if args.full:
        text.print_report(opened, file=sys.stdout, top=args.top, plain=args.plain)
    elif sections:
        text.print_sections(opened, sections, file=sys.stdout, top=args.top, plain=args.plain)
    else:
        text.print_answer(opened, file=sys.stdout, plain=args.plain)
