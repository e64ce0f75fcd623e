"""`dlprof lines`: hits and time of each line."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dlprof.cli.command import add_run

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.analysis.lines import FunctionLines

EXAMPLES = """\
examples:
  dlprof lines last
  dlprof lines last --function 'build_*' --sort line
  dlprof lines last --json

A line's time contains what it calls."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    run: str
    function: str | None
    file: str | None
    sort: str
    plain: bool
    json: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add_run(parser)
    parser.add_argument("--function", metavar="PATTERN", help="only functions whose name matches (train, build_*)")
    parser.add_argument("--file", metavar="PATTERN", help="only files whose name matches (mlp.py, nets/*)")
    parser.add_argument(
        "--sort", choices=("time", "line"), default="time", help="order of the functions (default: time)"
    )
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")
    parser.add_argument("--json", action="store_true", help="print JSON: a list of lines (see `dlprof help json`)")


def run(args: Arguments) -> int:
    """Print the tables."""
    from dlprof.analysis import lines, processes, program
    from dlprof.pipeline.opening import open_run
    from dlprof.report import line_json, line_tables
    from dlprof.report.json_text import print_json

    opened = open_run(args.run)
    opened.require("lines")
    beside = processes.kinds(opened, program.others(opened))
    found = lines.functions(opened.table("lines"), beside)
    functions = [function for function in found if _is_asked_for(function, args)]
    if args.sort == "line":
        functions.sort(key=lambda function: (function.file, function.first_line))
    if args.json:
        print_json(line_json.as_json(functions))
    else:
        line_tables.print_tables(opened, functions, file=sys.stdout, plain=args.plain)
    return 0


def _is_asked_for(function: FunctionLines, args: Arguments) -> bool:
    return fnmatch.fnmatch(function.function, args.function or "*") and fnmatch.fnmatch(function.file, args.file or "*")
