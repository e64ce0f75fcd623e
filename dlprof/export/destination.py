"""Where an export goes: files that are whole or not there, and folders; nothing of the user's is lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dlprof.errors import CannotCreateError
from dlprof.rundir import umask, writing_into
from dlprof.store.run import Run


@contextlib.contextmanager
def new_file(path: Path, run: Run, *, force: bool) -> Iterator[BinaryIO]:
    """A file that gets its name when it is whole.

    Args:
        path: Where it shall be.
        run: The run that is exported.
        force: Replace a file that is there.

    Raises:
        CannotCreateError: There is a file, or it cannot be written.
    """
    _refuse_inside(path, run)
    if path.is_dir():
        raise CannotCreateError(f"{path} is a folder; this format is a file.", hint="choose another name with -o FILE")
    if path.exists() and not force:
        raise CannotCreateError(f"{path} exists.", hint="--force replaces it; -o FILE chooses another name")
    if path.exists() and not path.is_file():
        raise CannotCreateError(f"{path} is no plain file.", hint="choose another name with -o FILE")
    with writing_into(path.parent):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}-", dir=path.parent)
    part = Path(name)
    try:
        with writing_into(path.parent), os.fdopen(descriptor, "wb") as out:
            yield out
        with writing_into(path.parent):
            part.chmod(0o666 & ~umask())
            part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def new_folder(path: Path, run: Run, *, force: bool) -> Iterator[Path]:
    """A folder to write to; after an error it is as it was, if it was empty or not there.

    Args:
        path: Where it shall be.
        run: The run that is exported.
        force: Write to a folder that holds something already; files with the same names are replaced.

    Raises:
        CannotCreateError: It holds something, or cannot be written to.
    """
    _refuse_inside(path, run)
    if path.exists() and not path.is_dir():
        raise CannotCreateError(f"{path} is a file; this format is a folder.", hint="choose another name with -o DIR")
    with writing_into(path):
        is_there = path.is_dir()
        is_empty = not is_there or not any(path.iterdir())
        if not force and not is_empty:
            raise CannotCreateError(
                f"{path} exists and is not empty.", hint="--force writes into it; -o DIR chooses another name"
            )
        path.mkdir(parents=True, exist_ok=True)
        try:
            yield path
        except BaseException:
            if is_empty:
                _remove(path, itself=not is_there)
            raise


def _remove(folder: Path, *, itself: bool) -> None:
    """Remove what a folder holds, and the folder itself if it is ours, too; what cannot be removed stays."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
    if itself:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _refuse_inside(path: Path, run: Run) -> None:
    """Refuse a place within the run itself: its own tables lie there."""
    own = run.folder.path.resolve()
    if own in (path.resolve(), *path.resolve().parents):
        raise CannotCreateError(f"{path} lies in the run folder.", hint="choose another place with -o")
