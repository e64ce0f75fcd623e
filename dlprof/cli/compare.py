"""`dlprof compare`: the gap between runs, as a waterfall that sums to it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.compare import Comparison
    from dlprof.analysis.line_pairs import LinePair
    from dlprof.store.ranked import RankedRun

EXAMPLES = """\
examples:
  dlprof compare runs/tensorflow runs/mxnet
  dlprof compare runs/tf-repeats runs/mx-repeats       folders of `dlprof trace --repeat 5`
  dlprof compare a1,a2,a3 b1,b2,b3                     several runs per side
  dlprof compare runs/jax runs/torch runs/mxnet        the first against each of the others
  dlprof compare                                       the last two runs here: A the earlier, B the later
  dlprof compare before                                that one with the last
  dlprof compare before after --full    all rows: those that differ by little are told together else
  dlprof compare before after --json
  dlprof compare before after --html gap.html          one page with charts and both timelines
  dlprof compare runs/ddp-1 runs/ddp-2                 ranks of two trainings: steps by rank, stragglers

The first run is A, the second B. First it says whether both did the same work; then it takes the gap, the
wall time of A minus that of B, apart: A - B is positive where A takes longer. With three runs or more on each
side every part has a 95 % interval; with fewer, small differences are called noise."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    runs: Sequence[str]
    json: bool
    html: str | None
    top: int
    plain: bool
    full: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("runs", metavar="RUN", nargs="*", help="a run, a folder of repeats, or several with commas")
    parser.add_argument("--json", action="store_true", help="print JSON (see `dlprof help json`)")
    parser.add_argument("--html", metavar="FILE", help="write a page that needs no network (two sides only)")
    parser.add_argument("--top", type=int, default=12, metavar="N", help="rows of layers and lines (default: 12)")
    parser.add_argument("--full", action="store_true", help="all rows of all tables, and each core")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Print the comparison."""
    from dlprof.analysis import compare, line_pairs
    from dlprof.pipeline import ranked
    from dlprof.pipeline.opening import open_sides

    runs = _sides(args.runs)
    if args.html:
        _write_page(runs, args.html)
        return 0
    ranks = ranked.both(runs)
    if ranks is not None:
        _print_ranks(ranks, args)
        return 0
    first, *others = open_sides(runs)
    comparisons = [compare.compare(first, other) for other in others]
    lines = [line_pairs.join(one.a.runs, one.b.runs) for one in comparisons]
    if args.json:
        _print_json(comparisons, lines)
    else:
        from dlprof.report import compare_text

        compare_text.print_comparison(
            comparisons, lines, file=sys.stdout, top=args.top, plain=args.plain, full=args.full
        )
    return 0


def _sides(runs: Sequence[str]) -> Sequence[str]:
    """What is compared: with the last run where no second one is named; then it is said with which."""
    from dlprof import run_names
    from dlprof.report.say import say

    if len(runs) > 1:
        return runs
    given = runs[0] if runs else "last~1"
    last = run_names.resolve("last")
    if (Path(given).exists() and Path(given).samefile(last.path)) or given in {"last", last.path.name}:
        given = "last~1"
    other = run_names.resolve(given).path.name if given == "last~1" else given
    say(f"comparing {other} (A) with the last run, {last.path.name} (B)")
    return [given, "last"]


def _print_ranks(sides: Sequence[tuple[str, RankedRun]], args: Arguments) -> None:
    """Print the comparison of two runs of ranks."""
    from dlprof.analysis import rank_pairs
    from dlprof.report import rank_pairs_json, rank_pairs_text
    from dlprof.report.json_text import print_json

    compared = rank_pairs.compare(*(rank_pairs.side(*one) for one in sides))
    if args.json:
        print_json(rank_pairs_json.as_json(compared))
    else:
        rank_pairs_text.print_comparison(compared, file=sys.stdout, top=args.top, plain=args.plain)


def _print_json(comparisons: Sequence[Comparison], lines: Sequence[Sequence[LinePair]]) -> None:
    from msgspec import structs

    from dlprof.report import compare_json
    from dlprof.report.json_text import print_json

    first, *more = [compare_json.as_json(one, pairs) for one, pairs in zip(comparisons, lines, strict=True)]
    print_json(structs.replace(first, more=tuple(more)))


def _write_page(runs: Sequence[str], path: str) -> None:
    from dlprof.cli import view
    from dlprof.errors import UsageError
    from dlprof.report.html import files

    if len(runs) > 2:
        raise UsageError("A page compares two sides.", hint="without --html more can be compared")
    print(files.write(view.comparison_page(runs), Path(path)))
