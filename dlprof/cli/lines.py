"""`dlprof lines`: hits and time of each line."""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from dataclasses import asdict

EXAMPLES = """\
examples:
  dlprof lines last
  dlprof lines last --function 'build_*' --sort line
  dlprof lines last --json

A line's time contains what it calls."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("run", metavar="RUN", help="run folder, name of a run, or `last`")
    parser.add_argument("--function", metavar="PATTERN", help="only functions whose name fits (train, build_*)")
    parser.add_argument("--file", metavar="PATTERN", help="only files whose name fits (mlp.py, nets/*)")
    parser.add_argument(
        "--sort", choices=("time", "line"), default="time", help="order of the functions (default: time)"
    )
    parser.add_argument("--plain", action="store_true", help="no colour, only ASCII")
    parser.add_argument("--json", action="store_true", help="print JSON: a list of lines (see docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print the tables."""
    from dlprof.analysis import lines
    from dlprof.pipeline.opening import open_run
    from dlprof.report import line_tables

    found = open_run(args.run)
    functions = [
        function
        for function in lines.functions(found.table("lines"))
        if fnmatch.fnmatch(function.function, args.function or "*") and fnmatch.fnmatch(function.file, args.file or "*")
    ]
    if args.sort == "line":
        functions.sort(key=lambda f: (f.file, f.first_line))
    if args.json:
        places = ((f, {"file": f.file, "function": f.function, "first_line": f.first_line}) for f in functions)
        print(json.dumps([{**place, **asdict(line)} for f, place in places for line in f.lines], indent=1))
    else:
        line_tables.print_tables(found, functions, file=sys.stdout, plain=args.plain)
    return 0
