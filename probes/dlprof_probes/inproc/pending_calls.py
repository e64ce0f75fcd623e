"""Calls that the interpreter makes on its main thread between two instructions of the program, for another thread."""

import sys

from dlprof_probes.inproc import interrupts

_current_frames = sys._current_frames
_OURS = 12
"""Frames that a call of ours may have above it."""


def innermost_frame(thread):
    """The innermost frame of a thread."""
    return _current_frames().get(thread)


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

        def call(_):
            try:
                function()
            except BaseException as error:
                if not isinstance(error, Exception) or interrupts.is_from_handler(error):
                    self.raised = error
            return 0

        self._code = call.__code__
        self._call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(call)
        self._add = ctypes.pythonapi.Py_AddPendingCall
        _KEPT.append(self._call)

    def runs_on(self, thread):
        """Whether that thread is in our call; it has left it for good otherwise, for now it waits for us."""
        frame = innermost_frame(thread)
        for _ in range(_OURS):
            if frame is None or frame.f_code is self._code:
                break
            frame = frame.f_back
        return frame is not None and frame.f_code is self._code

    def add(self):
        """Ask for a call; returns whether the queue took it."""
        return self._add(self._call, None) == 0
