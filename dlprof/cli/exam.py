"""`dlprof exam`: how often the diagnosis is right, on planted causes, or on problems that others had."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof exam                                    all of scenarios/faults
  dlprof exam my/faults --only slow-callback     one cause, one backend or one truth file
  dlprof exam --format json > exam.json
  dlprof exam --outside                          real problems of real users: all of scenarios/outside
  dlprof exam --outside my/problems --only jax   one problem, one backend, or only open or held-out ones

Each script is run with its cause and diagnosed. What a planted cause really costs is measured by runs of their
own, with it and without it, that have no kernel windows. Runs that exist are not made again (--restart makes
them again; so does a script or a truth file that changed). How a truth file is written:
README.md in the folders scenarios/faults and scenarios/outside of the sources."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    folder: str
    outside: str | None
    only: Sequence[str]
    output: str
    pairs: int
    repeat: int
    format: str
    restart: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("folder", nargs="?", default="scenarios/faults", metavar="FOLDER", help="of the truth files")
    parser.add_argument(
        "--outside",
        nargs="?",
        const="scenarios/outside",
        metavar="FOLDER",
        help="sit the outside exam instead: a folder of problems with their fixes (default: scenarios/outside)",
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="a truth file or problem, finding or backend"
    )
    parser.add_argument("-o", dest="output", default="dlprof_exam", metavar="DIR", help="keeps the runs")
    parser.add_argument(
        "--pairs", type=int, default=12, metavar="N", help="clean runs made twice (default: 12); not with --outside"
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=2,
        metavar="N",
        help="rounds of runs; the fastest of a kind count; up to 2 more where they differ much (default: 2); "
        "--outside makes one",
    )
    parser.add_argument("--format", choices=("markdown", "json"), default="markdown", help="of the result")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--restart", action="store_true", help="delete earlier runs of the chosen cases first")


def run(args: Arguments) -> int:
    """Examine the diagnosis, and print how often it is right; 1 if a run failed."""
    from dlprof.launch import system

    system.need_linux("dlprof exam")
    return _outside(args, Path(args.outside)) if args.outside is not None else _planted(args)


def _planted(args: Arguments) -> int:
    """Causes that were planted."""
    from dlprof.launch import children
    from dlprof.report.json_text import print_json
    from dlprof.report.say import say
    from dlprof.trials.exam import tables, truths
    from dlprof.trials.exam.examine import examine

    chosen = truths.load(Path(args.folder), only=args.only)
    repeats = max(1, args.repeat)
    with children.ending_on_sigterm():
        result = examine(chosen, Path(args.output), say, pairs=args.pairs, repeats=repeats, restart=args.restart)
    if args.format == "json":
        print_json(tables.as_json(result))
    else:
        print(tables.as_markdown(result))
    return 1 if any(a.failed for a in result.answers) or any(p.failed for p in result.pairs) else 0


def _outside(args: Arguments, folder: Path) -> int:
    """Problems that somebody had."""
    from dlprof.launch import children
    from dlprof.report.json_text import print_json
    from dlprof.report.say import say
    from dlprof.trials.outside import problems, report, sitting

    chosen = problems.load(folder, only=args.only)
    with children.ending_on_sigterm():
        answers = sitting.sit(chosen, Path(args.output), say, restart=args.restart)
    if args.format == "json":
        print_json(report.as_json(answers))
    else:
        print(report.as_markdown(answers))
    return 1 if any(answer.failed for answer in answers) else 0
