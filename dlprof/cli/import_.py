"""`dlprof import`: foreign traces as a run."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://", re.IGNORECASE)
EXAMPLES = """\
examples:
  dlprof import trace.json.gz -o runs/theirs
  dlprof import rank-0.json.gz rank-1.json.gz
  dlprof import profile.nvvp gpu.csv
  dlprof import no-header.csv --columns timestamp,index,utilization.gpu,memory.used
  dlprof import trace.json.gz --max-memory 16GB
  dlprof import traces/ -o runs/ranks          a folder with a trace of each rank: a run of ranks
  dlprof import logs/                          the only trace below a folder of TensorBoard's
  dlprof import traces/ -o runs/ranks --on ray   the same, read by the nodes of a cluster of Ray
  dlprof import --list

The format of a file is recognised by its content. Several files are put on one timeline by their clocks.
The run can be looked at with report, kernels, lines and sql. If a file cannot be read, the import ends
with exit code 4, and leaves no run folder. Of a folder the ranks that can be read are taken, several at a time;
if one cannot, the exit code is 4, too."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    files: Sequence[str]
    output: str | None
    format: str | None
    columns: str | None
    list_formats: bool
    max_memory: str | None
    jobs: int | None
    on: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="traces of other profilers, or a folder of ranks")
    parser.add_argument("-o", dest="output", metavar="RUN", help="run folder (default: a new one below dlprof_runs/)")
    parser.add_argument("--format", metavar="NAME", help="read all files as this format")
    parser.add_argument(
        "--columns", metavar="NAME,...", help="columns of a table without a header, as nvidia-smi --query-gpu had them"
    )
    parser.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="memory for reading, as 800MB or 16GB; a file that needs more is refused (default: a quarter of the "
        "machine's, 4 GiB at most)",
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="traces of a folder that are read at a time (default: one for each core)"
    )
    parser.add_argument(
        "--on",
        metavar="ray",
        help="have a folder read by a cluster of Ray that is there (ray, or ray://ADDRESS), whose nodes have it at the "
        "same path",
    )
    parser.add_argument("--list", dest="list_formats", action="store_true", help="list the formats")


def run(args: Arguments) -> int:
    """Import the files, and print the name of the run."""
    from dlprof import config
    from dlprof.errors import UsageError
    from dlprof.ingest import limits
    from dlprof.ingest.formats import registry as formats
    from dlprof.pipeline import importing, importing_ranks
    from dlprof.report.say import say

    if args.list_formats:
        for reader in formats.all_readers():
            print(f"{reader.name:<16} {reader.title}")
        return 0
    if not args.files:
        raise UsageError("There is no file to import.", hint="dlprof import FILE... -o RUN")
    paths = [_local(file) for file in args.files]
    if len(paths) == 1 and paths[0].is_dir() and (only := importing_ranks.only_trace(paths[0])) is not None:
        say(f"{only}: the only trace below {paths[0]}")
        paths = [only]
    output = Path(args.output) if args.output else None
    columns = [name for name in (args.columns or "").split(",") if name.strip()]
    settings = config.load({"max_memory": args.max_memory}, *config.current())
    allowed = limits.chosen(settings.max_memory)
    folders = [path for path in paths if path.is_dir()]
    if folders:
        if len(paths) > 1 or columns:
            raise UsageError("A folder of ranks is imported alone.", hint=f"dlprof import {folders[0]} -o RUN")
        return _ranks(folders[0], output, args, settings.max_memory)
    for option, value in (("--jobs N", args.jobs), ("--on ray", args.on)):
        if value is not None:
            raise UsageError(f"{option.split()[0]} is for a folder of ranks.", hint=f"dlprof import FOLDER {option}")
    with limits.walled(allowed):
        found = importing.import_files(paths, output, reader=args.format, report=say, columns=columns, limits=allowed)
    print(found.folder.path if args.output else found.name)
    command = "kernels" if found.count("kernel_ops") else "lines" if found.count("lines") else "report"
    say(f"look at it: dlprof {command} {args.output or found.name}")
    return 0


def _local(file: str) -> Path:
    """A file on this machine."""
    from dlprof.errors import UsageError

    if _ADDRESS.match(file):
        name = file.rstrip("/").rpartition("/")[2]
        raise UsageError(
            f"{file} is an address, and only files are read.",
            hint=f"fetch it first: dlprof import {shlex.quote(name or 'FILE')}",
        )
    return Path(file)


def _ranks(folder: Path, output: Path | None, args: Arguments, memory_bytes: int | None) -> int:
    """Import a folder with a trace of each rank; 4 if one of them cannot be read."""
    from dlprof import ray_nodes
    from dlprof.errors import ExitCode
    from dlprof.ingest import limits
    from dlprof.pipeline import importing_ranks
    from dlprof.pipeline.importing_here import Here
    from dlprof.pipeline.importing_on_ray import OnRay
    from dlprof.report.say import say

    by = (
        Here(args.jobs, limits.chosen(memory_bytes))
        if args.on is None
        else OnRay(ray_nodes.address_of(args.on), args.jobs, memory_bytes)
    )
    made = importing_ranks.import_folder(folder, output, reader=args.format, report=say, by=by)
    if made.passed_over:
        more = f" and {len(made.passed_over) - 3} more" if len(made.passed_over) > 3 else ""
        say(f"passed over, as of no known format: {', '.join(made.passed_over[:3])}{more}")
    name = args.output or made.folder.path.name
    print(name)
    say(f"{len(made.ranks)} ranks; look at them: dlprof report {name}")
    return ExitCode.BAD_DATA if made.refused else 0
