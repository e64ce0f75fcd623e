"""`dlprof collect`: ranks that lie in several places as one run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof collect node1/ddp node2/ddp -o runs/all          folders of ranks, or of a launcher that was followed
  dlprof collect /shared/ddp/* -o runs/all                a shared folder
  dlprof collect n1:/tmp/ddp n2:/tmp/ddp -o runs/all      over ssh, by rsync, else scp
  dlprof collect s3://bucket/ddp -o runs/all              an object store, through fsspec (pip install 'dlprof[remote]')
  dlprof report runs/all

The result is a run of ranks: `dlprof help ranks`. The same command again goes on where it was ended, and takes ranks
that went on meanwhile once more. Clocks of several machines are compared by the collectives that their ranks took part
in. A folder that is no rank's, or in which something is neither a file nor a folder, is not taken; the others are, and
the exit code is 1."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    sources: Sequence[str]
    output: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="folder, host:path, or URL of an object store")
    parser.add_argument(
        "-o", dest="output", metavar="RUN", help="folder of all ranks (default: a new one below dlprof_runs/)"
    )


def run(args: Arguments) -> int:
    """Gather them, and print the name of the run; 1 if something was not taken."""
    from datetime import datetime

    from dlprof import run_names, rundir
    from dlprof.pipeline import collecting
    from dlprof.report.say import say

    output = Path(args.output) if args.output else rundir.free_path("ranks", datetime.now().astimezone())
    done = collecting.collect(args.sources, output, say)
    count = len(done.taken) + len(done.kept)
    of = f" of {done.world}" if done.world else ""
    missing = f"; no run of rank {', '.join(map(str, done.missing[:6]))}" if done.missing else ""
    say(f"{count}{of} ranks{missing}; look at them: dlprof report {run_names.name_to_type(done.folder)}")
    print(output if args.output else done.folder.path.name)
    return 1 if done.refused else 0
