"""Calls that the interpreter makes on its main thread."""

from __future__ import annotations

import _thread
import time
from typing import Any

import pytest
from dlprof_probes.inproc import pending_calls
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


def test_a_call_is_over_behind_its_last_instruction() -> None:
    """Not while its function runs; no frame of the thread that runs it is looked at."""
    told: list[bool] = []
    pending: Any = PendingCall(lambda: told.append(pending.is_over()))
    told.append(pending.is_over())
    pending._call(None)
    told.append(pending.is_over())

    assert told == [True, False, True]


def test_who_else_holds_the_code_of_a_call_does_not_make_it_run_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger, say: one second behind its end the call is over."""
    pending: Any = PendingCall(lambda: None)
    monkeypatch.setattr(pending_calls, "now", lambda: 5_000_000_000)
    pending._call(None)
    debuggers = [pending._code]
    told = [pending.is_over()]
    monkeypatch.setattr(pending_calls, "now", lambda: 6_000_000_001)
    told.append(pending.is_over())

    assert (len(debuggers), told) == (1, [False, True])


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
