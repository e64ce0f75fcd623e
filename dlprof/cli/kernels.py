"""`dlprof kernels`: what ran on the devices, and what it belongs to."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlprof.cli.command import add_run

if TYPE_CHECKING:
    from dlprof.analysis.roofline import Roofline
    from dlprof.store.run import Run

EXAMPLES = """\
examples:
  dlprof kernels last
  dlprof kernels last --by layer
  dlprof kernels last --by line        lines of the script that made what runs (JAX says so of compiled functions)
  dlprof kernels last --by op --phase fit.steps --top 0
  dlprof kernels last --by category --json
  dlprof kernels last --roofline       work of each layer, and how near its kernels come to what the machine can do

"on" says where it ran: `cpu` is an operator on the host, `gpu:0` a kernel on a device, `gpu:0 copy` a copy.
By kernel and op, "total" contains what runs inside; otherwise the rows sum to the time of all kernels."""
BY = ("kernel", "op", "layer", "line", "category", "direction", "device", "step")


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    by: str
    phase: str | None
    top: int
    roofline: bool
    json: bool
    plain: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("--by", choices=BY, default="layer", help="what to sum by (default: layer)")
    parser.add_argument("--phase", metavar="P", help="only what began in this phase (fit, fit.steps, evaluate)")
    parser.add_argument("--top", type=int, default=40, metavar="N", help="rows at most, 0 for all (default: 40)")
    parser.add_argument(
        "--roofline",
        action="store_true",
        help="operations and bytes of each layer in a training step, rates reached, and what binds them",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.kernels/1, see `dlprof help json`)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Print the table."""
    from dlprof.analysis import kernels
    from dlprof.pipeline.opening import open_run

    opened = open_run(args.run)
    opened.require("kernel_ops", "kernel_events")
    if args.roofline:
        return _roofline(opened, args)
    folded = args.by == "layer" and not args.json
    sums = kernels.summarise(opened, args.by, phase=args.phase, folded=folded)
    if args.json:
        from dlprof.report import kernel_json
        from dlprof.report.json_text import print_json

        print_json(kernel_json.as_json(sums, args.by, args.phase, _work(opened, args)))
    else:
        from dlprof.report import kernel_tables

        kernel_tables.print_table(opened, sums, args.by, top=args.top, file=sys.stdout, plain=args.plain)
    return 0


def _work(opened: Run, args: Arguments) -> Roofline | None:
    """The work of layers, where rows are told apart by them and are those of all phases."""
    from dlprof.analysis import roofline

    return roofline.of_run(opened) if args.by == "layer" and args.phase is None else None


def _roofline(opened: Run, args: Arguments) -> int:
    from dlprof.analysis import roofline
    from dlprof.report import roofline_json, roofline_table
    from dlprof.report.json_text import print_json

    found = roofline.of_run(opened)
    if args.json:
        print_json(roofline_json.as_json(found))
    else:
        roofline_table.print_table(found, top=args.top, file=sys.stdout, plain=args.plain)
    return 0
