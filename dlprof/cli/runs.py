"""`dlprof runs`: the runs in a folder."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = """\
examples:
  dlprof runs
  dlprof runs results --json
  dlprof runs --html runs.html            a page with all of them, and trends"""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    folder: str | None
    json: bool
    html: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="where to look (default: dlprof_runs)")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.runs/1)")
    parser.add_argument("--html", metavar="FILE", help="write a page: a table that sorts and filters, and trends")


def run(args: Arguments) -> int:
    """Print the list, oldest first."""
    from dlprof import run_names, rundir
    from dlprof.errors import NoInputError
    from dlprof.report import run_list
    from dlprof.report.json_text import print_json

    folder = Path(args.folder or rundir.RUNS_FOLDER)
    if args.folder and not folder.is_dir():
        raise NoInputError(f"There is no folder {folder}.")
    if args.html:
        print(_write_page(folder, Path(args.html)))
        return 0
    listed = run_list.list_runs(rundir.find(folder))
    if args.json:
        print_json(listed)
    elif not listed.runs:
        other = run_names.elsewhere(folder if args.folder else Path())
        print(f"no runs in {folder}; {f'{other.said}: {other.hint}' if other else 'make one: dlprof trace SCRIPT'}")
    else:
        print("\n".join(run_list.as_line(row) for row in listed.runs))
    return 0


def _write_page(folder: Path, file: Path) -> Path:
    from dlprof.errors import NoInputError
    from dlprof.report.html import index_files

    if not folder.is_dir():
        raise NoInputError(f"There is no folder {folder}.", hint="dlprof trace SCRIPT")
    return index_files.write(folder, file)
