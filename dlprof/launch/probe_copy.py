"""The copy of the probe that traced processes run: kept between runs, so that each Python compiles it once.

It lies in dlprof's data folder under the digest of its files, is made whole or not at all, and never changes. Where
that folder cannot be written to, a run gets a copy of its own. Where files may only have a certain size, or the disk is
full, that is one of links, in which nothing compiled is kept: it would be kept in part.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dlprof_probes

from dlprof.launch import bytecode
from dlprof.launch.data_folder import data_folder

_ITEMS = ("__init__.py", "wire.py", "mark.py", "inproc")
_OLD_S = 60 * 86400
"""A copy of another dlprof that was made longer ago than this is removed."""


def place(own: Path) -> Path:
    """The folder that holds the package `dlprof_probes`, for the import path of a traced process.

    Args:
        own: Where a copy of the run's own goes, if none can be kept.

    Raises:
        OSError: That cannot be written, either.
    """
    source = Path(dlprof_probes.__file__).parent
    if bytecode.may_be_cut(data_folder()):
        if not own.joinpath("dlprof_probes").exists():  # a run that follows its children asks twice
            _copy(source, own, os.symlink)  # whatever their size
            bytecode.keep_from(own)
        return own
    with contextlib.suppress(OSError):
        return _kept(source)
    _copy(source, own)
    return own


def _kept(source: Path) -> Path:
    files = {path.relative_to(source).as_posix(): path.read_bytes() for path in _files(source)}
    folder = data_folder() / "probe" / _digest(files)
    if not _is_whole(folder / "dlprof_probes", files):
        _make(source, folder, files)
        if not _is_whole(folder / "dlprof_probes", files):
            raise OSError(f"{folder} is damaged")
    return folder


def _files(source: Path) -> Iterator[Path]:
    for item in _ITEMS:
        path = source / item
        yield from sorted(path.rglob("*.py")) if path.is_dir() else (path,)


def _digest(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in files.items():
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _is_whole(package: Path, files: dict[str, bytes]) -> bool:
    """Whether every file is there as it should be: what lies in a data folder is run in the user's process."""
    try:
        return all((package / name).read_bytes() == content for name, content in files.items())
    except OSError:
        return False


def _make(source: Path, folder: Path, files: dict[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remove_old(folder.parent)
    made = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    try:
        _copy(source, made)
        # Ranks of one training begin at one moment: a copy that another one has just made is in use by now.
        if folder.is_dir() and not _is_whole(folder / "dlprof_probes", files):
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # another run was faster
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _copy(source: Path, target: Path, copy: Callable[[Path, Path], object] = shutil.copy2) -> None:
    """Copy file by file; as a rule with their times, for compiled files are known by them."""
    for path in _files(source):
        copied = target / "dlprof_probes" / path.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copy(path, copied)


def _remove_old(folder: Path) -> None:
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if entry.stat().st_mtime < time.time() - _OLD_S:
                shutil.rmtree(entry.path, ignore_errors=True)
