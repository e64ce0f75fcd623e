"""Our own files in a process that is not ours.

The program may close every descriptor, put its own over ours, or open a file that then has our number. So ours
are high, where few look, and each write asks first whether the descriptor still is our file. All functions are
bound here, once: the program may replace those of `os` later.
"""

import errno
import fcntl
import resource
from binascii import crc32
from os import (
    O_APPEND,
    O_CLOEXEC,
    O_CREAT,
    O_EXCL,
    O_NOFOLLOW,
    O_TRUNC,
    O_WRONLY,
    close,
    fchmod,
    fstat,
    path,
    replace,
    write,
)
from os import open as open_file

_HIGHEST = 1024
"""Descriptors from here on cannot be given to select(); ours stay right below, so that the kernel's table is small."""
_ROOM = 24
_OWNERS = 0o600
_DUPLICATE = getattr(fcntl, "F_DUPFD_CLOEXEC", 1030)
_fcntl = fcntl.fcntl
_getrlimit, _NUMBER = resource.getrlimit, resource.RLIMIT_NOFILE
_abspath = path.abspath


class LostFileError(OSError):
    """The descriptor is no longer our file, and its path does not lead there either."""


class OwnFile(object):
    """A file that we append to.

    What a signal interrupts is written by the next call: the size of the file tells how far the last one came.

    Args:
        path: Of the file; it must not exist, unless `again`.
        again: Begin an existing file anew.

    Attributes:
        size: Bytes written so far.
        crc: Their CRC-32.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path, again=False):
        self.size = 0
        self.crc = 0
        self._left = []
        self._path = _abspath(path)
        how = O_TRUNC if again else O_EXCL
        self._fd = high(open_file(self._path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | how, 0o644))
        state = fstat(self._fd)
        if state.st_mode & _OWNERS != _OWNERS:  # the program's umask forbids even that
            fchmod(self._fd, _OWNERS)
        self._identity = _identity(state)

    def write(self, data):
        """Append bytes.

        Raises:
            OSError: They cannot be written.
        """
        self._left.append(data)
        self._write()

    def write_all(self, queue):
        """Append the bytes of a deque, and empty it.

        Raises:
            OSError: They cannot be written.
        """
        try:
            self._left.extend(iter(queue.popleft, None))  # one call in C: no signal comes in between
        except IndexError:
            pass
        if self._left:
            self._write()

    def _write(self):
        data = b"".join(self._left)
        written = self._checked().st_size - self.size
        if written < 0:
            raise LostFileError("the program, or another one, has cut it")
        if written:  # by a call that a signal interrupted
            data = self._came_through(data, written)
        while data:
            data = self._came_through(data, write(self._fd, data))
        self._left = []

    def _came_through(self, data, count):
        """So many bytes of it are in the file; returns what is left."""
        crc, left = crc32(data[:count], self.crc), data[count:]
        self._left, self.size, self.crc = [left], self.size + count, crc
        return left

    def _checked(self):
        """The state of our file; its descriptor is ours afterwards."""
        found = _state(self._fd)
        if found is None or _identity(found) != self._identity:
            self._open_again()
            found = fstat(self._fd)
        return found

    def _open_again(self):
        try:
            fd = open_file(self._path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        except OSError as error:
            raise LostFileError("the program closed it, and it cannot be opened again: %s" % error.strerror) from None
        if _identity(fstat(fd)) != self._identity:
            close(fd)
            raise LostFileError("the program closed it, and another file is in its place")
        self._fd = high(fd)

    def close(self):
        """Close it, if it is still ours."""
        found = _state(self._fd)
        if found is not None and _identity(found) == self._identity:
            close(self._fd)


def save(path, data):
    """Write a file that holds just these bytes.

    Raises:
        OSError: It cannot be written.
    """
    file = OwnFile(path, again=True)
    try:
        file.write(data)
    finally:
        file.close()


def save_whole(path, data):
    """The same, but whoever reads it finds the old content or the new one, never a part."""
    save(path + ".part", data)
    replace(path + ".part", path)


def overwrite(path, data):
    """Put bytes at the beginning of a file that is there: space that was reserved.

    Raises:
        OSError: It is not there, or cannot be written.
    """
    fd = open_file(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    try:
        write(fd, data)
    finally:
        close(fd)


def high(fd):
    """The same open file at a high number, closed by exec; `fd` itself where there is none."""
    soft, _hard = _getrlimit(_NUMBER)
    highest = _HIGHEST if soft < 0 else min(soft, _HIGHEST)
    for least in (highest - _ROOM, highest // 2):
        try:
            above = _fcntl(fd, _DUPLICATE, max(fd, least))
        except (OSError, ValueError):
            continue
        close(fd)
        return above
    return fd


def _state(fd):
    try:
        return fstat(fd)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        return None


def _identity(state):
    return state.st_dev, state.st_ino
