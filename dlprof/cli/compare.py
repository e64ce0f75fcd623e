"""`dlprof compare`: the gap between runs, as a waterfall that sums to it."""

from __future__ import annotations

import argparse
import json
import sys

EXAMPLES = """\
examples:
  dlprof compare runs/tensorflow runs/mxnet
  dlprof compare runs/tf-repeats runs/mx-repeats       folders of `dlprof trace --repeat 5`
  dlprof compare a1,a2,a3 b1,b2,b3                     several runs per side
  dlprof compare runs/jax runs/torch runs/mxnet        the first against each of the others
  dlprof compare before after --json
  dlprof compare before after --html gap.html          one page with charts and both time lines

First it is said whether both did the same work; then the gap, A less B, part by part. With three runs or
more on each side every part has a 95 % interval; with fewer, small differences are called noise."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a run, a folder of repeats, or several with commas")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.compare/1, see docs/json.md)")
    parser.add_argument("--html", metavar="FILE", help="write a page that needs no network (two sides only)")
    parser.add_argument("--top", type=int, default=12, metavar="N", help="rows of layers and lines (default: 12)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: argparse.Namespace) -> int:
    """Print the comparison."""
    from dlprof.analysis import compare, line_pairs
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_sides

    if len(args.runs) < 2:
        raise UsageError("A comparison needs two runs.", hint="dlprof compare RUN RUN")
    if args.html:
        return _page(args)
    sides = open_sides(args.runs)
    found = [compare.compare(sides[0], other) for other in sides[1:]]
    lines = [line_pairs.join(one.a.runs, one.b.runs) for one in found]
    if args.json:
        from dlprof.report import compare_json

        objects = [compare_json.as_json(one, pairs) for one, pairs in zip(found, lines, strict=True)]
        print(json.dumps({**objects[0], "more": objects[1:]}, indent=1))
    else:
        from dlprof.report import compare_text

        compare_text.print_comparison(found, lines, file=sys.stdout, top=args.top, plain=args.plain)
    return 0


def _page(args: argparse.Namespace) -> int:
    from pathlib import Path

    from dlprof.cli import pages
    from dlprof.errors import UsageError
    from dlprof.report.html import files

    if len(args.runs) > 2:
        raise UsageError("A page compares two sides.", hint="without --html more can be compared")
    print(files.write(pages.of_comparison(args.runs), Path(args.html)))
    return 0
