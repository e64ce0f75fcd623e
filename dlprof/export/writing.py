"""Writes an export where it shall be: a file, or a folder."""

from __future__ import annotations

import importlib
from pathlib import Path

from dlprof.export import destination
from dlprof.export.formats import FORMATS
from dlprof.store.run import Run


def write(run: Run, to: str, path: Path, *, force: bool) -> str:
    """Write a run in a format.

    Args:
        run: The run.
        to: Name of the format, one of `FORMATS`.
        path: The file or folder; folders that several runs share get one of the run's own inside.
        force: Replace a file, write into a folder that is not empty.

    Returns:
        What was written, in a few words.

    Raises:
        CannotCreateError: There is something already, or it cannot be written.
    """
    chosen = FORMATS[to]
    writer = importlib.import_module(f"dlprof.export.{chosen.module}")
    if not chosen.folder:
        with destination.new_file(path, run, force=force) as out:
            return str(writer.write(run, out))
    own = path / run.name if chosen.shared else path
    with destination.new_folder(own, run, force=force) as folder:
        return str(writer.write(run, folder))
