"""Exceptions that the program sends itself through a signal's handler: they may come up inside our own code."""

import _signal  # type: ignore[import-not-found]
import signal
import types

_getsignal = _signal.getsignal  # that of `signal` makes an object of each answer, which takes twenty times as long
_NUMBERS = range(1, signal.NSIG)


def is_from_handler(error):
    """Whether a handler of a signal, which ran in the middle of our code, raised `error`: it is the program's.

    A handler's frame is in the traceback then. Asked only where something was raised.
    """
    codes = _handler_codes()
    trace = error.__traceback__
    while codes and trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


def _handler_codes():
    codes = set()
    for number in _NUMBERS:
        try:
            handler = _getsignal(number)
        except (OSError, ValueError):
            continue
        code = _code(handler) if callable(handler) else None  # ignored, or left to the kernel: a number
        if code is not None:
            codes.add(code)
    return codes


def _code(handler):
    """The code of a handler: a function, a method, a `partial`, or an object that can be called; None: not Python's."""
    for _ in range(8):
        if isinstance(handler, types.FunctionType):
            return handler.__code__
        inner = getattr(handler, "__func__", None) or getattr(handler, "func", None)
        if inner is None and not isinstance(handler, type):
            inner = vars(type(handler)).get("__call__")
        handler = inner
    return None
