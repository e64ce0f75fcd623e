"""Copies of what was run, so that reports do not depend on the working tree."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from pathlib import Path

from dlprof.rundir import RunDir, writing_into


def keep_sources(run: RunDir, files: Mapping[str, str]) -> None:
    """Copy source files into the run folder.

    Args:
        run: The run folder.
        files: Short name (as in the tables) to absolute name.
    """
    for short, path in files.items():
        target = run.source_path(short)
        try:
            content = Path(path).read_bytes()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(Path(path).stat().st_mode & 0o666)  # no wider than what it is a copy of
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
        target = run.source_path(short)
        with writing_into(run.path):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch(0o600)
            target.write_text("".join(linecache.getlines(name)), encoding="utf-8")
