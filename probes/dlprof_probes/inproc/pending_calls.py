"""Calls that the interpreter makes on its main thread between two instructions of the program, for another thread."""

import sys

from dlprof_probes.inproc import interrupts
from dlprof_probes.inproc.clock import now

_getrefcount = sys.getrefcount
_LONG_NS = 1000 * 1000 * 1000
"""A call that was over so long ago is not what holds its code."""


def raise_in(thread, error):
    """Have a thread raise `error` where it is now."""
    import ctypes

    error.__traceback__ = None
    # Only a class can be given; this one's instance is the very exception.
    raised = type(type(error).__name__, (type(error),), {"__new__": lambda *_: error})
    _KEPT.append(raised)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(raised))


_KEPT = []  # type: list[object]
"""What the interpreter may still call, for as long as it runs."""


class PendingCall(object):
    """Has the main thread call a function between two instructions."""

    def __init__(self, function):
        import ctypes

        self.raised = None
        """What a handler of a signal, one of the program's, raised while the function ran: it is to be handed on."""

        self._done_ns = None
        """When the function was over last."""

        def call(_):
            self._done_ns = None
            try:
                function()
            except BaseException as error:
                if not isinstance(error, Exception) or interrupts.is_from_handler(error):
                    self.raised = error
            self._done_ns = now()
            return 0

        self._code = call.__code__
        self._call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(call)
        self._add = ctypes.pythonapi.Py_AddPendingCall
        _KEPT.append(self._call)
        self._held = _getrefcount(self._code)

    def is_over(self):
        """Whether no call runs any more, to its last instruction: one that runs holds its code.

        No frame of the main thread is looked at: Python 3.11 ended by SIGSEGV where we went from one to the next and it
        ran on meanwhile. Who else took hold of the code since, as a debugger may, is told by the time that has passed.
        """
        held = _getrefcount(self._code)
        if held > self._held and self._done_ns is not None and now() - self._done_ns > _LONG_NS:
            self._held = held
        return held <= self._held

    def add(self):
        """Ask for a call; returns whether the queue took it."""
        return self._add(self._call, None) == 0
