"""Gives memory back that a tracer has left behind: what it freed, in the middle of what the program had freed.

Tracers keep small records, and allocate them while a step makes and frees large arrays: in glibc's heap each record
then lies behind such an array, and the next one of that size needs new memory. A training of 0.6 GB had 2.8 GB after
two traced steps, to its end; one that takes 1,200 slices in a step, each of whose gradients is an array as large as the
whole, went from 0.5 to 24.5 GB in one, until the machine had none left. glibc gives whole pages of free memory back
when it is asked to.
"""

import _thread
import ctypes
from resource import RUSAGE_SELF, getrusage

from dlprof_probes.inproc import facts, own_threads, process_memory

_MUCH = 256 << 20
"""Bytes by which the process has grown while it was traced; less is not worth the page faults that follow."""
_TOO_MUCH = 512 << 20
"""Bytes by which it may grow within a step before they are asked for."""
_EVERY_S = 0.1
_WAIT_S = 5
"""So long the last time that memory is asked for may take."""


def resident():
    """What is resident of this process (bytes); None: the kernel does not tell."""
    told = process_memory.at(0)
    return told and told["rss_bytes"]


def has_grown(before, after):
    """Whether a process has grown much, from `before` to `after` (bytes; None: not known)."""
    return before is not None and after is not None and after - before >= _MUCH


def give_back(before):
    """Ask the allocator for it, if the process has grown much since it had `before` bytes (None: not known)."""
    if has_grown(before, resident()):
        facts.quiet(_trim)


class Guard(object):
    """Asks for it while a window is open, on a thread of its own, each time that the process has grown by too much.

    Args:
        before: What the process had when its tracer began (bytes); None: not known, and nobody looks.

    Attributes:
        asked: How often the allocator was asked.
    """

    def __init__(self, before):
        self.asked = 0
        self._least = before
        self._over, self._gone = _thread.allocate_lock(), _thread.allocate_lock()

    def start(self):
        """Begin to look."""
        if self._least is None:
            return
        self._over.acquire()
        self._gone.acquire()
        try:
            own_threads.start(self._run)
        except RuntimeError:  # no more threads
            self._gone.release()

    def stop(self):
        """Look no more."""
        if self._over.locked():
            self._over.release()
            self._gone.acquire(True, _WAIT_S)

    def _run(self):
        try:
            while not self._over.acquire(True, _EVERY_S):
                facts.quiet(self.look)
        finally:
            self._gone.release()

    def look(self):
        """Ask for memory if the process has grown by too much since it was last asked for."""
        # The most that there ever was takes no file: an open one would be seen by the program.
        if getrusage(RUSAGE_SELF).ru_maxrss * 1024 < self._least + _TOO_MUCH:
            return
        there = resident()
        if there is not None and there >= self._least + _TOO_MUCH:
            self.asked += 1
            _trim()
            self._least = max(self._least, resident() or there)


def _trim():
    ctypes.CDLL(None).malloc_trim(0)  # of glibc; other C libraries have none
