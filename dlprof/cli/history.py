"""`dlprof history`: a benchmark over the commits of a repository."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.bench.matrix import Matrix
    from dlprof.history.report import History, HistoryReport

EXAMPLES = """\
examples:
  dlprof history . --bench bench.toml --commits v1.0..HEAD
  dlprof history . --bench bench.toml --commits HEAD~40.. --at-most 9        nine, bisected where something changed
  dlprof history . --bench bench.toml --commits v1.0.. --python ~/venv/bin/python
  dlprof history . --bench bench.toml --commits v1.0.. --table               only what was measured so far
  dlprof history . --bench bench.toml --commits v1.0.. --html p.html   the same as a page of trends
  dlprof history . --bench bench.toml --commits v1.0.. --format json

Each commit is checked out in a worktree of its own; yours is left alone. After Ctrl-C the same command goes on. The
scripts are run as each commit has them, in one environment: the matrix's backends, or --python. Scripts count from the
matrix, which therefore lies in the checkout (it need not be committed; that of today is run at each commit).

It needs the package ruptures: pip install 'dlprof[history]'. The exit code is 0, whether a commit made something slower
or not (`--format json` tells it: changes, and their doubts); 1: a run failed. `dlprof help history` tells more."""
PYTHON = "python"
"""What stands for a backend in the results where an interpreter was given."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    repository: str
    bench: str
    commits: str
    at_most: int | None
    repeat: int | None
    least: str
    python: str | None
    output: str | None
    format: str
    table: bool
    html: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("repository", metavar="REPO", help="a folder in a checkout of a git repository")
    parser.add_argument("--bench", metavar="MATRIX.toml", required=True, help="what to run: scripts of the repository")
    parser.add_argument(
        "--commits", metavar="A..B", required=True, help="A, and the commits that lead to B (HEAD) by first parents"
    )
    parser.add_argument(
        "--at-most", type=int, metavar="N", help="begin with so many of them, evenly, and bisect (default: all)"
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="runs of each commit (default: that of the matrix)")
    parser.add_argument("--least", default="5%", metavar="P", help="smaller changes are not told (default: 5%%)")
    parser.add_argument("--python", metavar="PATH", help="the interpreter to run with, in place of managed backends")
    parser.add_argument("-o", dest="output", metavar="DIR", help="folder of the results (default: dlprof_history/NAME)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the answer (default: text)")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    parser.add_argument("--html", metavar="FILE", help="write a page: each measure over the commits, and what changed")
    parser.add_argument("--table", action="store_true", help="run nothing: tell what was measured so far")


def run(args: Arguments) -> int:
    """Run what is left, and print what changed; 1 if a run failed."""
    from dlprof.cli.shares import share
    from dlprof.history import changes, repository, tables
    from dlprof.history.report import History
    from dlprof.history.running import Measured
    from dlprof.report.json_text import print_json

    changes.need_ruptures()
    opened = repository.open_repository(Path(args.repository))
    matrix = _matrix(args, opened.root)
    folder = Path(args.output or Path("dlprof_history") / matrix.name)
    what = Measured(opened, matrix, folder, _interpreter(args.python))
    history = History(what, opened.commits(args.commits), share(args.least, "--least"))
    if not args.table:
        _measure(history, args.at_most)
    found = history.report()
    if args.html:
        _write(found, Path(args.html))
    if args.format == "json":
        print_json(found)
    else:
        print(tables.as_text(found), end="")
    return 1 if any(commit.failed for commit in found.commits) else 0


def _write(found: HistoryReport, path: Path) -> None:
    from dlprof.history import page
    from dlprof.report.html import files
    from dlprof.report.say import say

    say(f"the page is {files.write(page.make(found), path)}")


def _measure(history: History, most: int | None) -> None:
    from dlprof.errors import UsageError
    from dlprof.history import running
    from dlprof.launch import children
    from dlprof.report.say import say

    if most is not None and most < 2:
        raise UsageError(f"--at-most must be 2 or more, not {most}.")
    first = history.first(most or len(history.commits))
    say(f"{len(history.commits)} commits, {len(first)} to begin with, {history.what.matrix.repeat} runs of each work")
    with children.ending_on_sigterm():
        running.run(history.what, first, say, history.next)


def _matrix(args: Arguments, root: Path) -> Matrix:
    """The matrix; one that lies outside of the checkout seldom names scripts of it."""
    from dataclasses import replace

    from dlprof.bench import matrix
    from dlprof.errors import NoInputError, UsageError

    path = Path(args.bench)
    try:
        loaded = matrix.load(path, backend=PYTHON if args.python else None)
    except NoInputError as error:
        if not path.is_file() or path.resolve().is_relative_to(root):
            raise
        where = f"move {path} into {root}, where it need not be committed: its scripts count from it"
        raise NoInputError(error.message, hint=where) from error
    if args.repeat is None:
        return loaded
    if not 1 <= args.repeat <= matrix.REPEAT_AT_MOST:
        raise UsageError(f"--repeat must lie between 1 and {matrix.REPEAT_AT_MOST}, not {args.repeat}.")
    return replace(loaded, repeat=args.repeat)


def _interpreter(given: str | None) -> str | None:
    """The interpreter as every checkout can start it: a path that does not depend on the folder."""
    if given is None or "/" not in given:
        return given
    return str(Path(given).expanduser().absolute())
