"""`dlprof bench`: scenarios on backends, again and again, as one table."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof bench docs/studies/keras-backends.toml
  dlprof bench matrix.toml -o results --repeat 10
  dlprof bench matrix.toml --table            only the table of what was run so far
  dlprof bench matrix.toml --format csv > results.csv

The runs are interleaved in a random order that the matrix's seed fixes. A benchmark that was ended
goes on where it was when the same command is given again; a run that fails is noted and passed over.
How a matrix is written: docs/bench.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("matrix", metavar="MATRIX.toml", help="what to run")
    parser.add_argument("-o", dest="output", metavar="DIR", help="folder of the results (default: dlprof_bench/NAME)")
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of each pair (default: the matrix's)")
    parser.add_argument("--format", choices=("markdown", "csv", "json"), default="markdown", help="of the table")
    parser.add_argument("--table", action="store_true", help="run nothing: show what there is")
    parser.add_argument("--restart", action="store_true", help="throw away earlier results of this folder first")


def run(args: argparse.Namespace) -> int:
    """Run what is left, and print the table; 1 if a run failed."""
    from dataclasses import replace

    from dlprof.bench import matrix, measures, results, running, tables
    from dlprof.errors import UsageError
    from dlprof.launch import children

    found = matrix.load(Path(args.matrix))
    if args.repeat is not None:
        if not 1 <= args.repeat <= matrix.REPEAT_AT_MOST:
            raise UsageError(f"--repeat must lie between 1 and {matrix.REPEAT_AT_MOST}, not {args.repeat}.")
        found = replace(found, repeat=args.repeat)
    folder = results.Folder(Path(args.output or Path("dlprof_bench") / found.name))
    if args.restart and folder.state.is_file():
        shutil.rmtree(folder.path)
    if args.table:
        outcome = folder.results(found.cells())
    else:
        with children.ending_on_sigterm():
            outcome = running.run(found, folder, _say)
    rows = measures.rows(outcome, found.seed)
    if args.format == "json":
        print(json.dumps(tables.as_json(found, rows), indent=1))
    else:
        print(tables.as_csv(rows) if args.format == "csv" else tables.as_markdown(rows), end="")
    return 1 if any(row.failed for row in rows) else 0


def _say(line: str) -> None:
    print(f"dlprof: {line}", file=sys.stderr, flush=True)
