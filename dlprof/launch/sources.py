"""Copies of what was run, so that reports do not depend on the working tree."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from pathlib import Path

from dlprof import safe_files
from dlprof.rundir import SOURCE_MOST, RunDir, writing_into


def keep_sources(run: RunDir, files: Mapping[str, str]) -> None:
    """Copy source files into the run folder; what is kept already is left as it is, which is how it ran.

    Args:
        run: The run folder.
        files: Short name (as in the tables) to absolute name.
    """
    for short, path in files.items():
        if run.source_path(short).is_file():
            continue
        try:
            source = Path(path).resolve()
            # no wider than what it is a copy of
            _keep(run, short, safe_files.read_path(source, SOURCE_MOST), source.stat().st_mode & 0o666)
        except OSError:
            continue  # the report then shows lines without their text


def keep_cells(run: RunDir, files: Mapping[str, str]) -> None:
    """Keep the text of cells whose lines were counted, as their shell compiled it; it is in no file.

    Args:
        run: The run folder.
        files: What the tables call them, to what they are called as compiled.

    Raises:
        CannotCreateError: The run folder cannot be written to.
    """
    for short, name in files.items():
        with writing_into(run.path):
            _keep(run, short, "".join(linecache.getlines(name)).encode("utf-8"), 0o600)


def _keep(run: RunDir, short: str, content: bytes, mode: int) -> None:
    safe_files.write(run.path, f"raw/{run.source_name(short)}", content, mode)
