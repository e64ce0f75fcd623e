"""What dlprof keeps between runs, in one folder: each part is locked while it is made, and marked when it is whole."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from dlprof.errors import CannotCreateError, Report
from dlprof.rundir import replace_text, writing_into

MARKER = "dlprof-environment.json"
"""File that says that a folder is whole; it is written last."""


def data_folder() -> Path:
    """Folder of all that dlprof keeps between runs: `DLPROF_DATA`, else the user's data folder."""
    return Path(os.environ.get("DLPROF_DATA") or platformdirs.user_data_dir("dlprof")).absolute()


def clear(path: Path) -> None:
    """Remove what a killed run left at `path`. The marker goes first: what is left is never taken for whole."""
    if path.exists():
        (path / MARKER).unlink(missing_ok=True)
        shutil.rmtree(path)


def mark(path: Path, content: Mapping[str, Any]) -> None:
    """Say that `path` is whole; the marker is there with all its content, or not at all."""
    replace_text(path / MARKER, json.dumps(content))


@contextlib.contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """Turn failures to write to the data folder into one clear sentence."""
    try:
        with writing_into(folder):
            yield
    except CannotCreateError as error:
        raise CannotCreateError(error.message, hint="set DLPROF_DATA to a folder that you may write to") from error


@contextlib.contextmanager
def locked(path: Path, report: Report) -> Iterator[int]:
    """Hold the lock of the folder `path`; another run that has it is waited for. Gives the open lock file."""
    name = path.with_name(path.name + ".lock")
    while True:
        with keeping(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _wait_for(lock, path, report)
            if _is_still(name, lock):
                yield lock
                return
        finally:
            os.close(lock)


def _wait_for(lock: int, path: Path, report: Report) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        report(f"{path.name}: another run is making it; waiting")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _is_still(name: Path, lock: int) -> bool:
    """Whether the lock file is still the open one: whoever removes an environment removes its lock as well."""
    try:
        return os.path.samestat(name.stat(), os.fstat(lock))
    except FileNotFoundError:
        return False
