"""What notebooks and scripts make of runs besides frames: the list of runs, pages, exports."""

from __future__ import annotations

import webbrowser
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dlprof import rundir
from dlprof.errors import CannotCreateError, NoInputError, UsageError, nearest
from dlprof.export import writing
from dlprof.export.formats import FORMATS
from dlprof.notebook import columns, frames, given
from dlprof.notebook.time_units import Unit, checked, in_unit
from dlprof.report import run_list
from dlprof.report.html import files
from dlprof.report.json_text import plain
from dlprof.store.run import Run

if TYPE_CHECKING:
    import pandas as pd


def runs(folder: str | PathLike[str] = rundir.RUNS_FOLDER, *, unit: Unit = "ns") -> pd.DataFrame:
    """The runs in a folder, as `dlprof runs` lists them.

    Args:
        folder: Where they are.
        unit: Of the wall time: `ns`, `us`, `ms` or `s`.

    Returns:
        A row for each run, oldest first, by its name: script, backend, state, exit code, wall time, size in bytes.

    Raises:
        UnavailableError: pandas is not installed.
        UsageError: There is no such unit.
        NoInputError: There is no such folder; of `dlprof_runs` there may be none yet.
    """
    checked(unit)
    place = Path(given.path(folder, "folder"))
    if place != Path(rundir.RUNS_FOLDER) and not place.is_dir():
        raise NoInputError(f"There is no folder {place}.")
    listed = run_list.list_runs(rundir.find(place))
    return in_unit(frames.of_rows([plain(row) for row in listed.runs], columns.RUNS).set_index("run"), unit)


def write_page(page: str, path: Path, *, open_browser: bool) -> Path:
    """Write a page, and show it.

    Raises:
        UsageError: Another file has that name, or it is a folder.
        CannotCreateError: There is no such folder, or it cannot be written.
    """
    if not path.parent.is_dir():  # as of an export: a folder that is misspelt is not made
        raise CannotCreateError(f"There is no folder {path.parent}.", hint="choose another with path=, or make it")
    written = files.write(page, path)
    if open_browser:
        webbrowser.open(written.resolve().as_uri())
    return written


def export(run: Run, to: str, path: str | PathLike[str] | None, *, force: bool) -> Path:
    """Write a run for another viewer; see `dlprof.notebook.views.RunView.export`."""
    if given.text(to, "A format") not in FORMATS:
        raise UsageError(f"There is no format {to}.", hint=", ".join(FORMATS), near=nearest(to, FORMATS))
    target = Path(given.path(path, "path")) if path is not None else Path(run.name + FORMATS[to].ending)
    writing.write(run, to, target, force=force)
    return target
