"""`dlprof exam`: how often the diagnosis is right, on scripts with a planted cause."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof exam                                    all of scenarios/faults
  dlprof exam my/faults --only slow-callback     one cause, one backend or one truth file
  dlprof exam --format json > exam.json

Each script is run with its cause and diagnosed; what the cause really costs is told by runs of their own, with it and
without it, that have no kernel windows. Runs that are there are not made again (--restart does; so does a
script or a truth file that changed). How a truth file is written: scenarios/faults/README.md."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("folder", nargs="?", default="scenarios/faults", metavar="FOLDER", help="of the truth files")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a truth file, slug or backend")
    parser.add_argument("-o", dest="output", default="dlprof_exam", metavar="DIR", help="keeps the runs")
    parser.add_argument("--pairs", type=int, default=12, metavar="N", help="clean runs made twice (default: 12)")
    parser.add_argument(
        "--repeat",
        type=int,
        default=2,
        metavar="N",
        help="rounds of runs; the fastest of a kind count; up to 2 more where they differ much (default: 2)",
    )
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown", help="of the result")
    parser.add_argument("--restart", action="store_true", help="throw away earlier runs of the chosen cases first")


def run(args: argparse.Namespace) -> int:
    """Examine the rules; 1 if a run failed."""
    from dlprof.launch import children
    from dlprof.trials.exam import tables, truths
    from dlprof.trials.exam.examine import examine

    chosen = truths.load(Path(args.folder), only=args.only)
    repeats = max(1, args.repeat)
    with children.ending_on_sigterm():
        result = examine(chosen, Path(args.output), _say, pairs=args.pairs, repeats=repeats, restart=args.restart)
    print(json.dumps(tables.as_json(result), indent=1) if args.format == "json" else tables.as_markdown(result))
    return 1 if any(a.failed for a in result.answers) or any(p.failed for p in result.pairs) else 0


def _say(line: str) -> None:
    print(f"dlprof: {line}", file=sys.stderr, flush=True)
