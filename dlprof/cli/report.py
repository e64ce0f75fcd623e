"""`dlprof report`: where the time of a run went."""

from __future__ import annotations

import argparse
import json
import sys

EXAMPLES = """\
examples:
  dlprof report last
  dlprof report dlprof_runs/20261120-101500-mlp-mxnet --top 20
  dlprof report last --json | jq '.phases'
  dlprof report last --html report.html      one page with charts and the time line

RUN is a path, the name of a run below dlprof_runs/, or `last`."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.report/1, see docs/json.md)")
    parser.add_argument("--html", metavar="FILE", help="write a page that needs no network (see `dlprof view`)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many lines (default: 10)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")
    parser.add_argument("--rebuild", action="store_true", help="make the tables anew from the raw artifacts")


def run(args: argparse.Namespace) -> int:
    """Print the report."""
    from dlprof.pipeline.opening import open_run

    if args.html:
        from pathlib import Path

        from dlprof.cli import pages
        from dlprof.report.html import files

        print(files.write(pages.of_run(args.run, rebuild=args.rebuild), Path(args.html)))
        return 0
    found = open_run(args.run, rebuild=args.rebuild)
    if args.json:
        from dlprof.report import summary

        print(json.dumps(summary.summarise(found, top=args.top), indent=1))
    else:
        from dlprof.report import text

        text.print_report(found, file=sys.stdout, top=args.top, plain=args.plain)
    return 0
