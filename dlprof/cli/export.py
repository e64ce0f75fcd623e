"""`dlprof export`: a run in the formats of other programs."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dlprof.cli.command import add_run
from dlprof.export.formats import FORMATS, SERVICES

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.store.ranked import RankedRun

EXAMPLES = """\
formats:
{formats}

services:
{services}

examples:
  dlprof export last --to perfetto
  dlprof export last --to chrome -o trace.json
  dlprof export last --to tensorboard -o logs      (then: tensorboard --logdir logs)
  dlprof export last --to json -o - | jq .report.phases
  dlprof export last --to otlp -o http://localhost:4318       (a collector of OpenTelemetry)
  dlprof export last --to mlflow                              (where MLFLOW_TRACKING_URI says)

The path of what was written is printed. An existing file is not replaced without --force.
`dlprof help exporting` says what each format holds.""".format(
    formats="\n".join(f"  {name:<14} {one.about}" for name, one in FORMATS.items()),
    services="\n".join(f"  {name:<14} {one.about} (-o {one.address})" for name, one in SERVICES.items()),
)

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


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
    parser.add_argument(
        "--to", choices=tuple({**FORMATS, **SERVICES}), required=True, metavar="FORMAT", help="one of those below"
    )
    parser.add_argument(
        "-o",
        dest="output",
        metavar="PATH",
        help="file or folder (default: the run's name, here; -: standard output), or where a service is",
    )
    parser.add_argument("--force", action="store_true", help="replace a file, write into a folder that is not empty")


def run(args: Arguments) -> int:
    """Write the export, and say where it is."""
    from dlprof.errors import UsageError
    from dlprof.export import writing
    from dlprof.pipeline import ranked
    from dlprof.pipeline.opening import open_run
    from dlprof.report.say import say

    if args.to not in FORMATS or (args.output and _ADDRESS.match(args.output)):
        return _sent(args)
    chosen = FORMATS[args.to]
    if args.output == "-" and not chosen.text:
        names = ", ".join(name for name, one in FORMATS.items() if one.text)
        raise UsageError(f"{args.to} cannot go to standard output.", hint=f"-o PATH; those that can: {names}")
    ranks = ranked.find(args.run)
    if ranks is not None and ranks.members and (args.to == "perfetto" or ranks.program is None):
        return _of_ranks(ranks, args)
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


def _sent(args: Arguments) -> int:
    """The run at a service."""
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_run
    from dlprof.report.say import say

    if args.to not in SERVICES or args.output == "-":
        able = ", ".join(SERVICES)
        raise UsageError(f"{args.to} cannot go to {args.output}.", hint=f"-o PATH; these go to services: {able}")
    sent = importlib.import_module(f"dlprof.export.{SERVICES[args.to].module}").send(open_run(args.run), args.output)
    say(sent)
    return 0


def _of_ranks(ranks: RankedRun, args: Arguments) -> int:
    """All ranks of a training in one file, in the format that can hold them."""
    from dlprof.analysis import clocks
    from dlprof.errors import UsageError
    from dlprof.export import destination, perfetto
    from dlprof.report.say import say

    first = f"{args.run}/{ranks.path_of(ranks.members[0])}"
    if args.to != "perfetto":
        raise UsageError(
            f"{args.run} holds the ranks of one training, and {args.to} takes one run.",
            hint=f"--to perfetto, or name a rank: {first}",
        )
    clock = clocks.of_ranks(ranks.members)
    if clock.unknown is not None:
        raise UsageError(f"The ranks have no time axis in common: {clock.unknown}.", hint=f"name a rank: {first}")
    path = Path(args.output or ranks.name + FORMATS[args.to].ending)
    with destination.new_file(path, ranks.members[0].run, force=args.force) as out:
        written = perfetto.write_ranks(ranks.members, clock, out)
    say(f"{written} in {path}; {FORMATS[args.to].viewer.format(path=path)}")
    print(path)
    return 0
