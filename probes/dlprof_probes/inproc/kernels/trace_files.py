"""Files that an engine's tracer writes by itself, at a path that it is given, which it may not take as it is.

Kineto, for one, changes quotes and line feeds in the path that it is given, between writing a file and naming it.
"""

import os
import re
from os import O_CLOEXEC, O_DIRECTORY, O_RDONLY, SEEK_END, close, fstat, lseek, read, statvfs
from os import open as open_file
from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit

_PLAIN = re.compile(r"\A[A-Za-z0-9 /._+,:=@%~-]*\Z")
_BY_DESCRIPTOR = "/proc/self/fd/%d"
_LITTLE = 1000 * 1000
"""Where so few bytes are left, or were left to a limit, that is why a file is not whole."""
_ENDS = 16


class SafePath(object):
    """A path of a file of plain letters, whatever its folder is called, while the `with` lasts.

    Args:
        path: Where the file is to be; its own name is plain.
    """

    def __init__(self, path):
        self._path = path
        self._folder = None

    def __enter__(self):
        if _PLAIN.match(self._path):
            return self._path
        folder, name = os.path.split(self._path)
        try:
            self._folder = open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        except OSError:
            return self._path
        return os.path.join(_BY_DESCRIPTOR % self._folder, name)

    def __exit__(self, *_):
        if self._folder is not None:
            close(self._folder)


def check_json(path):
    """See whether a file of JSON was written to its end.

    Raises:
        RuntimeError: It was not; says why, as far as that can be found.
    """
    if not os.path.exists(path):
        raise RuntimeError("the tracer wrote no file: %s" % _why(path, 0))
    file = open_file(path, O_RDONLY | O_CLOEXEC)
    try:
        size = fstat(file).st_size
        lseek(file, -min(size, _ENDS), SEEK_END)
        end = read(file, _ENDS).rstrip()
    finally:
        close(file)
    if not end.endswith((b"}", b"]")):
        raise RuntimeError("the tracer's file is not whole: %s" % _why(path, size))


def _why(path, size):
    limit = getrlimit(RLIMIT_FSIZE)[0]
    if limit != RLIM_INFINITY and (limit < _LITTLE or size >= limit - _LITTLE):
        return "the limit on the size of files is %d bytes (ulimit -f)" % limit
    try:
        left = statvfs(os.path.dirname(path))
        if left.f_bavail * left.f_frsize < _LITTLE:
            return "the disk is full"
    except OSError:
        pass
    return "it does not say why"
