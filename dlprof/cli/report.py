"""`dlprof report`: where the time of a run went."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from dlprof.cli.command import add_run

EXAMPLES = """\
examples:
  dlprof report last
  dlprof report dlprof_runs/20261120-101500-mlp-mxnet --top 20
  dlprof report last --json | jq '.phases'
  dlprof report last --html report.html      one page with charts and the timeline

RUN is a path, the name of a run below dlprof_runs/, or `last`."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    json: bool
    html: str | None
    top: int
    plain: bool
    rebuild: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.report/1, see `dlprof help json`)")
    parser.add_argument("--html", metavar="FILE", help="write a page that needs no network (see `dlprof view`)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="rows of lines and kernels (default: 10)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")
    parser.add_argument("--rebuild", action="store_true", help="make the tables again from the raw artifacts")


def run(args: Arguments) -> int:
    """Print the report."""
    from dlprof.pipeline.opening import open_run

    if args.html:
        from pathlib import Path

        from dlprof.cli import view
        from dlprof.report.html import files

        print(files.write(view.run_page(args.run, rebuild=args.rebuild), Path(args.html)))
        return 0
    opened = open_run(args.run, rebuild=args.rebuild)
    if args.json:
        import math

        from dlprof.analysis.findings.diagnose import brief
        from dlprof.report import summary
        from dlprof.report.json_text import print_json

        print_json(summary.summarise(opened, top=args.top, diagnosis=brief(opened, within_s=math.inf)))
    else:
        from dlprof.report import text

        text.print_report(opened, file=sys.stdout, top=args.top, plain=args.plain)
    return 0
