"""`dlprof export`: a run in the formats of other programs."""

from __future__ import annotations

import argparse
import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

from dlprof.cli.command import add_run
from dlprof.export.formats import FORMATS

EXAMPLES = """\
formats:
{formats}

examples:
  dlprof export last --to perfetto
  dlprof export last --to chrome -o trace.json
  dlprof export last --to tensorboard -o logs      (then: tensorboard --logdir logs)
  dlprof export last --to json -o - | jq .report.phases

The path of what was written is printed. An existing file is not replaced without --force.
`dlprof help exporting` says what each format holds.""".format(
    formats="\n".join(f"  {name:<14} {one.about}" for name, one in FORMATS.items())
)


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    to: str
    output: str | None
    force: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("--to", choices=tuple(FORMATS), required=True, metavar="FORMAT", help="one of those below")
    parser.add_argument(
        "-o", dest="output", metavar="PATH", help="file or folder (default: the run's name, here; -: standard output)"
    )
    parser.add_argument("--force", action="store_true", help="replace a file, write into a folder that is not empty")


def run(args: Arguments) -> int:
    """Write the export, and say where it is."""
    from dlprof.errors import UsageError
    from dlprof.export import writing
    from dlprof.pipeline.opening import open_run
    from dlprof.report.say import say

    chosen = FORMATS[args.to]
    if args.output == "-" and not chosen.text:
        names = ", ".join(name for name, one in FORMATS.items() if one.text)
        raise UsageError(f"{args.to} cannot go to standard output.", hint=f"-o PATH; those that can: {names}")
    opened = open_run(args.run)
    if args.output == "-":
        writer = importlib.import_module(f"dlprof.export.{chosen.module}")
        written = writer.write(opened, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        say(written)
        return 0
    path = Path(args.output or opened.name + chosen.ending)
    written = writing.write(opened, args.to, path, force=args.force)
    say(f"{written} in {path}; {chosen.viewer.format(path=path)}")
    print(path)
    return 0
