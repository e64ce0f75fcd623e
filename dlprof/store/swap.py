"""Puts a new folder in the place of an old one, so that at every moment one of them is there and whole."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from dlprof.rundir import writing_into

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextlib.contextmanager
def swapped(folder: Path) -> Iterator[Path]:
    """Give an empty folder beside `folder`, which takes its place when all went well; else nothing has changed.

    Raises:
        CannotCreateError: The folder around it cannot be written to.
    """
    part, old = _beside(folder)
    recover(folder)
    with writing_into(folder.parent):
        part.mkdir()
    try:
        yield part
        with writing_into(folder.parent):
            _put(part, folder, old)
    finally:
        _remove(part)
        _remove(old)


def recover(folder: Path) -> None:
    """Mend what an interrupted swap left: the old folder gets its name back if the new one did not get it."""
    part, old = _beside(folder)
    if old.is_dir() and not old.is_symlink() and not os.path.lexists(folder):
        with writing_into(folder.parent):
            old.rename(folder)
    _remove(part)
    _remove(old)


def interrupted(folder: Path) -> bool:
    """Whether a swap was interrupted here, or goes on."""
    return any(os.path.lexists(path) for path in _beside(folder))


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name(f"{folder.name}.part"), folder.with_name(f"{folder.name}.old")


def _put(part: Path, folder: Path, old: Path) -> None:
    if not os.path.lexists(folder):
        part.rename(folder)
    elif not _exchanged(part, folder):  # the kernel or the file system knows no exchange: `recover` mends a gap
        folder.rename(old)
        part.rename(folder)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one go; False: that is not to be had here."""
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None).renameat2
        return rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0  # type: ignore[no-any-return]
    return False


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:  # a link, or a pipe, which `rmtree` would open
            path.unlink()
