"""Where the page over all runs of a folder is, and where the pages that it links to are."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

from dlprof import run_names
from dlprof.report import run_index
from dlprof.report.html import files, index_page
from dlprof.report.run_index import RunIndex
from dlprof.rundir import RunDir

NAME = "index.html"
"""Of the page, in the folder."""
_RUN_PAGE = "report.html"


def is_folder(text: str) -> bool:
    """Whether this is a folder that holds runs, and no run itself."""
    folder = Path(text)
    return folder.is_dir() and not run_names.is_run(text) and bool(run_index.find(folder))


def write(folder: Path, file: Path | None) -> Path:
    """Write the page, with links to the pages of runs that are there.

    Args:
        folder: The folder.
        file: Where to; None: into the folder, or, where that cannot be written to, into one for temporary files.

    Raises:
        UsageError: There is another file of that name.
        CannotCreateError: It cannot be written.
    """
    path = file or _place(folder)
    index = run_index.of_folder(folder)
    return files.write(index_page.make(index, _written(index, folder, path)), path)


def served(folder: Path, make: Callable[[str], str]) -> tuple[str, dict[str, Callable[[], str]]]:
    """The page, and for each address that it links to what makes the page there.

    Args:
        folder: The folder.
        make: Makes the page of the run in a folder.
    """
    index = run_index.of_folder(folder)
    links = index_page.served(index)
    return index_page.make(index, links), {link: partial(make, str(folder / name)) for name, link in links.items()}


def _place(folder: Path) -> Path:
    if RunDir(folder).is_ours:
        return folder / NAME
    return Path(tempfile.mkdtemp(prefix="dlprof-")) / NAME


def _written(index: RunIndex, folder: Path, page: Path) -> dict[str, str]:
    """Run to the address of its page beside it, where one was written, from where the index will be."""
    found = {}
    for run in index.runs:
        target = folder / run.listed.run / _RUN_PAGE
        if target.is_file():
            found[run.listed.run] = quote(Path(os.path.relpath(target, page.parent)).as_posix())
    return found
