"""`dlprof try`: run a script again with other settings, and say what becomes of time, memory and loss."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from dlprof.cli.command import add_run

EXAMPLES = """\
examples:
  dlprof try last --set batch_size=256
  dlprof try last --set batch_size=64,128,256            one after the other
  dlprof try last --set batch_size=256 --set dtype=mixed_bfloat16     both together
  dlprof try last --set steps_per_execution=10 --repeat 5
  dlprof try last --set threads=1 --set env:MALLOC_ARENA_MAX=2
  dlprof try last --set num_workers=4 --yes --json

Your files stay as they are: the settings are given to Keras, the engine or its loaders in place of the script's own,
in runs of their own, in turn with runs as it was.

  of Keras' training          batch_size, steps_per_execution, run_eagerly, jit_compile, dtype
  of the engine               threads
  of PyTorch's DataLoader     num_workers, persistent_workers, prefetch_factor
  of Keras' data sets         workers, use_multiprocessing, max_queue_size
  of the environment          env:VARIABLE

What a larger batch or more steps of a call would bring is forecast from the kernel window of RUN, to stand beside what
was measured. `dlprof help trying` tells more."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    set: Sequence[str]
    repeat: int
    yes: bool
    json: bool
    plain: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE[,VALUE]", help="a setting, and what to try it with"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each (default: 3)")
    parser.add_argument("--yes", action="store_true", help="do not ask before the script runs")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.try/1, see `dlprof help json`)")
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")


def run(args: Arguments) -> int:
    """Try the settings; 1 when one of them could not be tried."""
    from dlprof.analysis import training
    from dlprof.cli.agreeing import agreed
    from dlprof.errors import UsageError
    from dlprof.launch import children, system
    from dlprof.pipeline.opening import open_run
    from dlprof.report import try_report
    from dlprof.report.json_text import print_json
    from dlprof.report.say import say
    from dlprof.trials import again, settings, what_if

    system.need_linux("dlprof try")
    if not 1 <= args.repeat <= 100:
        raise UsageError(f"--repeat must lie between 1 and 100, not {args.repeat}.")
    opened = open_run(args.run)
    trained = training.of_run(opened)
    fitting = settings.example(trained, {row["kind"] for row in opened.rows("loaders")})
    changes = settings.changes(args.set, fitting)
    settings.refuse(changes, trained, opened.name)
    minutes = again.seconds(opened, len(changes), args.repeat) / 60
    titles = "; ".join(change.title for change in changes)
    say(f"to try: {titles}; the script runs {(len(changes) + 1) * args.repeat} times, about {minutes:.1f} min")
    if not agreed(opened, "try", yes=args.yes):
        say("nothing was run")
        return 0
    with children.ending_on_sigterm():
        tried = what_if.tries(opened, changes, say, repeats=args.repeat)
    if args.json:
        print_json(try_report.as_json(opened.name, args.repeat, tried))
    else:
        try_report.print_tried(opened.name, args.repeat, tried, file=sys.stdout, plain=args.plain)
    return int(any(one.failed is not None for one in tried))
