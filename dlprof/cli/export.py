"""`dlprof export`: a run in the formats of other programs."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from dlprof.export.formats import FORMATS, Format

EXAMPLES = """\
formats:
{formats}

examples:
  dlprof export last --to perfetto
  dlprof export last --to chrome -o trace.json
  dlprof export last --to tensorboard -o logs      (then: tensorboard --logdir logs)
  dlprof export last --to json -o - | jq .report.phases

The path of what was written is printed. A file that exists is not replaced without --force.
docs/exporting.md tells what each format holds.""".format(
    formats="\n".join(f"  {name:<14} {one.about}" for name, one in FORMATS.items())
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("--to", choices=tuple(FORMATS), required=True, metavar="FORMAT", help="one of those below")
    parser.add_argument(
        "-o", dest="output", metavar="PATH", help="file or folder (default: the run's name, here; -: standard output)"
    )
    parser.add_argument("--force", action="store_true", help="replace a file, write into a folder that is not empty")


def run(args: argparse.Namespace) -> int:
    """Write the export, and say where it is."""
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_run

    chosen = FORMATS[args.to]
    if args.output == "-" and not chosen.text:
        names = ", ".join(name for name, one in FORMATS.items() if one.text)
        raise UsageError(f"{args.to} cannot go to standard output.", hint=f"-o PATH; those that can: {names}")
    found = open_run(args.run)
    writer = importlib.import_module(f"dlprof.export.{chosen.module}")
    if args.output == "-":
        written = writer.write(found, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        print(f"dlprof: {written}", file=sys.stderr)
        return 0
    path = Path(args.output or found.name + chosen.ending)
    written = _write(writer, chosen, found, path, force=args.force)
    print(f"dlprof: {written} in {path}; {chosen.viewer.format(path=path)}", file=sys.stderr)
    print(path)
    return 0


def _write(writer: Any, chosen: Format, found: Any, path: Path, *, force: bool) -> str:
    from dlprof.export import destination

    if not chosen.folder:
        with destination.new_file(path, found, force=force) as out:
            return str(writer.write(found, out))
    own = path / found.name if chosen.shared else path
    with destination.new_folder(own, found, force=force) as folder:
        return str(writer.write(found, folder))
