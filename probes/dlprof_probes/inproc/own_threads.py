"""Threads of our own: they take no signal that is for the program."""

import _thread
import signal

_start = _thread.start_new_thread
_mask, _BLOCK, _SET = signal.pthread_sigmask, signal.SIG_BLOCK, signal.SIG_SETMASK
_ALL = [number for number in range(1, signal.NSIG) if number not in (32, 33)]  # those two are the C library's


def start(function):
    """Run a function on a thread of its own.

    Args:
        function: Takes nothing, and raises nothing.

    Raises:
        RuntimeError: The system has no more threads.
    """
    before = _mask(_BLOCK, _ALL)  # what the program blocks must not find a thread that takes it
    try:
        _start(function, ())
    finally:
        _mask(_SET, before)
