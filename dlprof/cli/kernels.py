"""`dlprof kernels`: what ran on the devices, and what it belongs to."""

from __future__ import annotations

import argparse
import json
import sys

EXAMPLES = """\
examples:
  dlprof kernels last
  dlprof kernels last --by layer
  dlprof kernels last --by op --phase fit.steps --top 0
  dlprof kernels last --by category --json

kind is `kernel` for what ran on a device, `operator` for what ran on the host, `transfer` for copies.
total by kernel and op contains what runs inside; by all else the rows sum to the time of all kernels."""
BY = ("kernel", "op", "layer", "category", "direction", "device", "step")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("--by", choices=BY, default="layer", help="what to sum by (default: layer)")
    parser.add_argument("--phase", metavar="P", help="only what began in this phase (fit, fit.steps, evaluate)")
    parser.add_argument("--top", type=int, default=40, metavar="N", help="rows at most, 0 for all (default: 40)")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.kernels/1, see docs/json.md)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    from dlprof.analysis import kernels
    from dlprof.pipeline.opening import open_run

    found = open_run(args.run)
    summary = kernels.summarise(found, args.by, phase=args.phase)
    if args.json:
        from dlprof.report import kernel_json

        print(json.dumps(kernel_json.as_json(summary, args.by, args.phase), indent=1))
    else:
        from dlprof.report import kernel_tables

        kernel_tables.print_table(found, summary, args.by, top=args.top, file=sys.stdout, plain=args.plain)
    return 0
