"""`dlprof export`: a run in the formats of other viewers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof export last --to tensorboard -o logs
  tensorboard --logdir logs                    (with the plug-in: pip install tensorboard-plugin-profile)

tensorboard: the traces that TensorFlow's or JAX's own profiler wrote in the kernel windows of the run."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("--to", choices=("tensorboard",), required=True, help="the format")
    parser.add_argument("-o", dest="output", metavar="DIR", required=True, help="folder to write to")


def run(args: argparse.Namespace) -> int:
    """Write the files, and say where they are."""
    from dlprof.export import tensorboard
    from dlprof.opening import open_run

    folder = Path(args.output)
    count = tensorboard.write(open_run(args.run), folder)
    print(f"dlprof: {count} trace{'s' if count > 1 else ''} written; tensorboard --logdir {folder}", file=sys.stderr)
    print(folder)
    return 0
