"""Where pages are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dlprof import run_names, safe_files
from dlprof.errors import DlprofError, UsageError
from dlprof.rundir import replace_text, writing_into

_MARK = 'name="generator" content="dlprof'


def write(page: str, path: Path) -> Path:
    """Write a page; a file that is none of dlprof's pages is left alone.

    Raises:
        UsageError: There is another file of that name, or a folder.
        CannotCreateError: It cannot be written.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", hint=f"{path / 'report.html'}")
    if os.path.lexists(path) and not _is_page(path):
        raise UsageError(f"{path} is there already, and is no page of dlprof.", hint="choose another name")
    with writing_into(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, page)
    return path


def write_beside(page: str, names: Sequence[str], title: str) -> Path:
    """Write a page into the folder of its only run, or else into a folder for temporary files."""
    if len(names) == 1:
        run = run_names.resolve(names[0])
        if run.is_ours:
            return write(page, run.path / title)
    return write(page, Path(tempfile.mkdtemp(prefix="dlprof-")) / title)


def _is_page(path: Path) -> bool:
    try:
        with safe_files.opened(path.parent, path.name) as file:
            return _MARK.encode() in file.read(2000)
    except safe_files.RefusedError:
        return False
    except OSError as error:
        raise DlprofError(f"{path} cannot be read: {error}") from error
