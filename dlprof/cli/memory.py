"""`dlprof memory`: how much memory a run took, when, where, for what, and whether it grows."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from dlprof.cli.command import add_run

EXAMPLES = """\
examples:
  dlprof memory last
  dlprof memory last --by step       the training steps with the largest peaks
  dlprof memory last --by time
  dlprof memory last --by layer
  dlprof memory last --by line       who allocated it, of a run that was traced with --heap
  dlprof memory last --json

Memory is what is resident, of the process and all below it, sampled ten times a second. By layer and kind: exact where
arrays were looked at (parameters, slots of the optimiser), else estimated from shapes; `dlprof help memory-use`."""
BY = ("phase", "step", "time", "kind", "layer", "line")


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    by: str
    json: bool
    plain: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("--by", choices=BY, default="phase", help="what to show it by (default: phase)")
    parser.add_argument(
        "--json", action="store_true", help="print JSON, whatever --by: dlprof.memory/1, see `dlprof help json`"
    )
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Print it."""
    from dlprof.analysis import memory
    from dlprof.pipeline.opening import open_run
    from dlprof.report import memory_json, memory_text
    from dlprof.report.json_text import print_json

    opened = open_run(args.run)
    opened.require("process_samples", "machine", "memory_owners", "heap", "heap_held")
    found = memory_json.as_json(memory.of_run(opened))
    if args.json:
        print_json(found)
    else:
        memory_text.print_memory(found, args.by, file=sys.stdout, plain=args.plain, name=opened.name)
    return 0
