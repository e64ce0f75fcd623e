"""`dlprof bench`: scenarios on backends, again and again, as one table."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.bench.matrix import Matrix
    from dlprof.bench.results import CellResult, Folder

EXAMPLES = """\
examples:
  dlprof bench matrix.toml                    what it lists, on each backend
  dlprof bench matrix.toml -o results --repeat 10
  dlprof bench matrix.toml --table            only the table of what was run so far
  dlprof bench matrix.toml --format csv > results.csv
  dlprof bench matrix.toml -o results --on slurm    a job for each run, on machines of its own; then --table
  dlprof bench matrix.toml -o results --on ray      a run at a time on each node of the cluster of Ray that is here
  dlprof bench scenarios/studies/ranks.toml        ranks = [1, 2, 4]: efficiency, what is lost, the next doubling

The runs are interleaved in a random order that the seed of the matrix fixes. A benchmark that was
interrupted continues where it stopped when the same command is given again; a run that fails is noted
and passed over. How a matrix is written: `dlprof help bench`."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    matrix: str
    output: str | None
    repeat: int | None
    format: str
    table: bool
    restart: bool
    on: str | None
    run: int | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("matrix", metavar="MATRIX.toml", help="what to run")
    parser.add_argument("-o", dest="output", metavar="DIR", help="folder of the results (default: dlprof_bench/NAME)")
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of each pair (default: that of the matrix)")
    parser.add_argument("--format", choices=("markdown", "csv", "json"), default="markdown", help="of the table")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--table", action="store_true", help="run nothing: print the results that there are")
    parser.add_argument(
        "--on",
        metavar="WHERE",
        help="slurm: write an array of jobs, one for each run that is left, and submit it; ray, or ray://ADDRESS: "
        "spread the runs over the nodes of a cluster of Ray",
    )
    parser.add_argument("--run", type=int, metavar="N", help="make the N-th run alone, as a job of an array does")
    parser.add_argument("--restart", action="store_true", help="delete earlier results in this folder first")


def run(args: Arguments) -> int:
    """Run what is left, and print the table; 1 if a run failed."""
    from dlprof.bench import measures, running, studies, tables
    from dlprof.bench.results import Folder
    from dlprof.launch import children, system
    from dlprof.report.json_text import print_json
    from dlprof.report.say import say
    from dlprof.store import lock

    if not args.table:
        system.need_linux("dlprof bench")
    matrix = _matrix(args)
    folder = Folder(Path(args.output or Path("dlprof_bench") / matrix.name))
    if args.restart and folder.state.is_file():
        with lock.held(folder.path, "runs a benchmark in", wait_s=0):
            shutil.rmtree(folder.path)
    if args.on == "slurm":
        return _on_slurm(args, matrix, folder)
    if args.run is not None:
        with children.ending_on_sigterm():
            one = running.run_one(matrix, folder, args.run, say)
        say(f"failed: {one.error}" if one.error else f"took {one.seconds:.1f} s")
        return 1 if one.error else 0
    if args.table:
        results = folder.results(matrix.cells())
    elif args.on is not None:
        with children.ending_on_sigterm():
            results = _on_ray(args, matrix, folder)
    else:
        with children.ending_on_sigterm():
            results = running.run(matrix, folder, say)
    rows, found = measures.rows(results, matrix.seed), studies.of_results(results, matrix)
    if args.format == "json":
        print_json(tables.as_json(matrix, rows, found))
    else:
        print(tables.as_csv(rows, found) if args.format == "csv" else tables.as_markdown(rows, found), end="")
    return 1 if any(row.failed for row in rows) else 0


def _on_slurm(args: Arguments, matrix: Matrix, folder: Folder) -> int:
    """Leave what is left to Slurm."""
    from dlprof.bench import slurm
    from dlprof.report.say import say

    jobs = slurm.prepare(Path(args.matrix), matrix, folder)
    told = jobs.submitted or (
        "nothing is left to run" if not jobs.runs else f"there is no sbatch here: sbatch {jobs.script}"
    )
    say(f"{jobs.runs} runs; {told}")
    say(f"the table of what is over: dlprof bench {args.matrix} -o {folder.path} --table")
    print(jobs.script)
    return 0


def _on_ray(args: Arguments, matrix: Matrix, folder: Folder) -> list[CellResult]:
    """Spread what is left over a cluster of Ray."""
    from dlprof import ray_nodes
    from dlprof.bench import on_ray
    from dlprof.report.say import say

    address = ray_nodes.address_of(args.on or "", others="slurm, ")
    return on_ray.run(Path(args.matrix), matrix, folder, address, say)


def _matrix(args: Arguments) -> Matrix:
    from dataclasses import replace

    from dlprof.bench import matrix
    from dlprof.errors import UsageError

    loaded = matrix.load(Path(args.matrix))
    if args.repeat is None:
        return loaded
    if not 1 <= args.repeat <= matrix.REPEAT_AT_MOST:
        raise UsageError(f"--repeat must lie between 1 and {matrix.REPEAT_AT_MOST}, not {args.repeat}.")
    return replace(loaded, repeat=args.repeat)
