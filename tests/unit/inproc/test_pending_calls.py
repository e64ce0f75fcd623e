"""Calls that the interpreter makes on its main thread."""

from __future__ import annotations

import _thread
import time
from typing import Any

import pytest
from dlprof_probes.inproc.pending_calls import PendingCall, raise_in


def test_a_pending_call_reaches_a_loop_that_calls_nothing() -> None:
    """On the main thread, soon."""
    found: list[int] = []
    pending = PendingCall(lambda: found.append(_thread.get_ident()))
    _thread.start_new_thread(pending.add, ())
    end = time.monotonic() + 30
    while not found and time.monotonic() < end:
        pass

    assert found == [_thread.get_ident()]


def test_what_a_handler_raised_meanwhile_is_kept_for_the_program() -> None:
    """A key pressed while a call of ours runs is not lost; a fault of our own is none of the program's."""
    faults: list[BaseException] = [RuntimeError("ours"), KeyboardInterrupt()]

    def fail() -> None:
        raise faults.pop()

    pending: Any = PendingCall(fail)
    pending._call(None)
    first = pending.raised
    pending._call(None)

    assert (type(first), pending.raised is first) == (KeyboardInterrupt, True)


def test_it_is_raised_there_as_it_was() -> None:
    """The very object."""
    error = ValueError("as raised", 7)
    ident = _thread.get_ident()

    with pytest.raises(ValueError, match="as raised") as caught:
        _thread.start_new_thread(lambda: raise_in(ident, error), ())
        end = time.monotonic() + 30
        while time.monotonic() < end:
            time.sleep(0)  # Python 3.13 lets what comes at an empty loop's jump back pass by the `with` around it

    assert caught.value is error
