"""Notices, on a thread itself, that it ends: Python gives its number to another one, and a tracer's state dies with it.

Python clears what a thread has in a `threading.local` when the thread's function is over, on that thread, before anyone
who joins it goes on (3.6 to 3.14). An object of ours is there. The thread itself is not touched: neither its class, nor
its function, nor the list of threads.
"""

import threading
from _thread import _local, get_ident
from threading import main_thread

_known_threads = vars(threading)["_active"]
"""Not `current_thread`, which makes an entry for a thread that has none: the program would see it."""


def is_waited_for():
    """Whether Python waits for the calling thread before it ends: else it may be stopped in the middle of anything."""
    return _is_waited_for(_known_threads.get(get_ident()))


def others_are_waited_for():
    """Whether Python, as it ends, waits for a thread other than the calling one."""
    ident = get_ident()
    return any(_is_waited_for(thread) for number, thread in list(_known_threads.items()) if number != ident)


def _is_waited_for(thread):
    try:
        return thread is not None and not thread.daemon
    except Exception:  # a class of the program's own
        return False


class ThreadEnds(object):
    """Those of a process.

    Attributes:
        ended: Called on a thread that was watched, with its number, when it ends; None: nobody asks.
    """

    def __init__(self):
        self.ended = None
        self._main = main_thread().ident
        self._kept = _local()

    def watch(self):
        """Have the end of the calling thread told; that of the main one is the end of the process."""
        ident = get_ident()
        if ident != self._main and getattr(self._kept, "end", None) is None:
            self._kept.end = _End(self, ident)

    def forget(self):
        """Tell of no end any more."""
        self.ended = None


class _End(object):
    """Lives as long as a thread."""

    __slots__ = ("_ends", "_ident")

    def __init__(self, ends, ident):
        self._ends = ends
        self._ident = ident

    def __del__(self):
        ended = self._ends.ended
        if ended is None or get_ident() != self._ident:  # of a daemon: Python takes it away on the main thread
            return
        try:
            ended(self._ident)
        except BaseException:
            pass  # nobody is left to take it, and Python would print it
