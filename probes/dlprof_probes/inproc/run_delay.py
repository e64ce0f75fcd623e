"""How long a thread was able to run and had no core, by the kernel's own count: that is no time of the program's."""

import os
from os import O_CLOEXEC, O_RDONLY, close, fstat
from os import open as open_file

from dlprof_probes.inproc.own_files import high

_pread = getattr(os, "pread", None)  # not on every system


class RunDelay(object):
    """The count of one thread of this process, read again and again.

    Args:
        task: Number of the thread, as the kernel has it; None: it is not known.
    """

    def __init__(self, task):
        self._fd = self._identity = None
        if task is None or _pread is None:
            return
        try:
            self._fd = high(open_file("/proc/self/task/%d/schedstat" % task, O_RDONLY | O_CLOEXEC))
            self._identity = _identity(self._fd)
        except OSError:
            pass  # a kernel that counts nothing

    def ns(self):
        """Nanoseconds since the thread began; None: it is not known."""
        if self._fd is None:
            return None
        try:
            if _identity(self._fd) == self._identity:  # else the program has closed it, and has a file there now
                return int(_pread(self._fd, 100, 0).split()[1])
        except (OSError, IndexError, ValueError):
            pass
        return None

    def close(self):
        """Read no more."""
        fd, self._fd = self._fd, None
        try:
            if fd is not None and _identity(fd) == self._identity:
                close(fd)
        except OSError:
            pass


def _identity(fd):
    state = fstat(fd)
    return state.st_dev, state.st_ino
