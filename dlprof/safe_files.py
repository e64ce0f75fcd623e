"""Files of a folder that may come from a stranger: nothing but regular files below it is read or written.

A run folder is data. Unpacked from an archive it belongs to the user who unpacked it, so its owner tells nothing: any
name in it may be a link to a file of the user's, a pipe that nobody writes to, or a device without end. Names are
therefore walked part by part, each opened from the folder before it without following a link; what is opened last must
be a regular file. New files get a name that nobody can have planted, and take their own by a rename, which replaces
a link instead of following it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

WHOLE_MOST = 256 << 20
"""Bytes of a file that is read as a whole, at most."""
LINE_MOST = 16 << 20
"""Bytes of a line, at most."""
_DEPTH = 200
"""Folders in folders, at most: sources that lie deep in the user's own are kept below as many."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class RefusedError(OSError):
    """A name that leads out of its folder, or to what is no regular file; the text is a part of a sentence."""


def parts_of(name: str | PurePosixPath) -> tuple[str, ...]:
    """The parts of a relative name.

    Raises:
        RefusedError: It is absolute, goes up, or is none.
    """
    text = str(name)
    parts = PurePosixPath(text).parts
    if not parts or text.startswith("/") or ".." in parts or "\0" in text:
        raise RefusedError(f"{text!r} is no name inside the folder")
    return parts


def opened(root: Path, name: str | PurePosixPath) -> BinaryIO:
    """A regular file below `root`, to read; `root` itself is the user's word, and may be reached through links.

    Raises:
        RefusedError: It leads elsewhere, or is no regular file.
        OSError: It is not there, or cannot be read.
    """
    *folders, last = parts_of(name)
    with _folder(root, folders) as folder:
        try:
            descriptor = os.open(last, _FILE, dir_fd=folder)
        except OSError:
            _refuse(folder, last, name)
            raise
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise RefusedError(f"{name} is {_KINDS.get(kind, 'no file')}")
    return os.fdopen(descriptor, "rb")


def read(root: Path, name: str | PurePosixPath, most: int = WHOLE_MOST) -> bytes:
    """The content of a regular file below `root`, of `most` bytes at most.

    Raises:
        RefusedError: It leads elsewhere, is no regular file, or is larger.
        OSError: It is not there, or cannot be read.
    """
    with opened(root, name) as file:
        return _whole(file, str(name), most)


def read_path(path: Path, most: int = WHOLE_MOST) -> bytes:
    """The same of a file by its path, whose folder is trusted.

    Raises:
        RefusedError: It is no regular file, or larger.
        OSError: It is not there, or cannot be read.
    """
    return read(path.parent, path.name, most)


def read_text(path: Path, most: int = WHOLE_MOST) -> str:
    """The same as a text of UTF-8.

    Raises:
        RefusedError: It is no regular file, or larger.
        OSError: It is not there, or cannot be read.
        UnicodeDecodeError: It is no text of UTF-8.
    """
    return read_path(path, most).decode("utf-8")


def lines(file: BinaryIO, most: int = LINE_MOST) -> Iterator[bytes]:
    """The lines of a file, of `most` bytes each at most: a file without ends of lines is not read as one.

    Raises:
        RefusedError: A line is longer.
    """
    while line := file.readline(most + 1):
        if len(line) > most:
            raise RefusedError(f"a line is longer than {most >> 20} MB")
        yield line


def _whole(file: BinaryIO, name: str, most: int) -> bytes:
    content = file.read(most + 1)  # not by its size: it may grow meanwhile
    if len(content) > most:
        raise RefusedError(f"{name} is larger than {most >> 20} MB")
    return content


def is_file(root: Path, name: str | PurePosixPath) -> bool:
    """Whether a regular file is there, reached without a link."""
    try:
        *folders, last = parts_of(name)
        with _folder(root, folders) as folder:
            return stat.S_ISREG(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that is whole or not there: it replaces `path` at the end, also where that is a link.

    Raises:
        OSError: It cannot be written.
    """
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    part = f".{path.name[:100]}.{os.urandom(8).hex()}.part"
    try:
        with os.fdopen(os.open(part, _NEW, 0o666, dir_fd=folder), "wb") as out:
            yield out
        os.rename(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    finally:
        os.close(folder)


def write(root: Path, name: str | PurePosixPath, content: bytes, mode: int = 0o666) -> None:
    """Write a file below `root`, whole, with the folders before it; the umask takes its part of the mode.

    Raises:
        RefusedError: It leads elsewhere.
        OSError: It cannot be written.
    """
    *folders, last = parts_of(name)
    with _folder(root, folders, make=True) as folder:
        part = f".{last[:100]}.{os.urandom(8).hex()}.part"
        with os.fdopen(os.open(part, _NEW, mode, dir_fd=folder), "wb") as out:
            out.write(content)
        os.rename(part, last, src_dir_fd=folder, dst_dir_fd=folder)


@contextlib.contextmanager
def _folder(root: Path, folders: Iterable[str], *, make: bool = False) -> Iterator[int]:
    """A descriptor of a folder below `root`."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in folders:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
            try:
                inner = os.open(name, _FOLDER, dir_fd=descriptor)
            except OSError:
                _refuse(descriptor, name, name)
                raise
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse(folder: int, last: str, name: object) -> None:
    """Say what it is that could not be opened, where it is something that never is."""
    with contextlib.suppress(FileNotFoundError):
        kind = stat.S_IFMT(os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode)
        if kind in _KINDS and kind != stat.S_IFDIR:
            raise RefusedError(f"{name} is {_KINDS[kind]}")


def strange(root: Path, names: Iterable[str]) -> str | None:
    """The first thing below some names of a folder that is neither a regular file nor a folder, as `raw/x is a link`.

    Args:
        root: The folder; it may be reached through links.
        names: Files and folders in it; those that are not there are passed over.

    Raises:
        OSError: A folder cannot be read.
    """
    for name in names:
        try:
            kind = stat.S_IFMT((root / name).lstat().st_mode)
        except FileNotFoundError:
            continue
        found = _kind(name, kind) or (_strange_below(root, name) if kind == stat.S_IFDIR else None)
        if found:
            return found
    return None


def _strange_below(root: Path, name: str) -> str | None:
    """The first in a folder, walked by descriptors: a folder that becomes a link meanwhile is not entered."""
    with _folder(root, PurePosixPath(name).parts) as folder:
        return _strange_in(folder, name, 0)


def _strange_in(folder: int, place: str, depth: int) -> str | None:
    if depth > _DEPTH:
        return f"{place[:80]}... is a folder in more than {_DEPTH} others"
    for name in sorted(os.listdir(folder)):
        kind = stat.S_IFMT(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        found = _kind(f"{place}/{name}", kind)
        if found is None and kind == stat.S_IFDIR:
            with _folder_in(folder, name) as inner:
                found = _strange_in(inner, f"{place}/{name}", depth + 1)
        if found:
            return found
    return None


def remove(path: Path) -> None:
    """Remove a folder with all that is in it, or whatever else has its name, as far as that can be done."""
    with contextlib.suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path, ignore_errors=True)  # of a pipe it would wait for a writer
        else:
            path.unlink()


def size(root: Path) -> int:
    """Bytes of all regular files below a folder, as far as it may be read."""
    try:
        with _folder(root, ()) as folder:
            return _size_in(folder, 0)
    except OSError:
        return 0


def _size_in(folder: int, depth: int) -> int:
    total = 0
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(state.st_mode):
                total += state.st_size
            elif stat.S_ISDIR(state.st_mode) and depth < _DEPTH:
                with _folder_in(folder, name) as inner:
                    total += _size_in(inner, depth + 1)
    return total


@contextlib.contextmanager
def _folder_in(folder: int, name: str) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _kind(name: str, kind: int) -> str | None:
    return None if kind in (stat.S_IFREG, stat.S_IFDIR) else f"{name} is {_KINDS.get(kind, 'no file')}"
