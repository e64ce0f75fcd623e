"""Calls of Python on threads that an engine made."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import pytest
from dlprof_probes.inproc import native_calls
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded

MS = 1_000_000


@pytest.fixture
def number(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One element: the number of the calling thread, which Python did not start."""
    told = [70]
    monkeypatch.setattr(native_calls, "_known_threads", {})
    monkeypatch.setattr(native_calls, "_number", lambda: told[0])
    return told


def call(probe: Probe, now: Clock, ms: float) -> None:
    """A call that takes so long."""
    token = probe.native_calls.begun()
    now.ns += int(ms * MS)
    probe.native_calls.ended(token)


def told(out: Recorded) -> list[tuple[int, float, float, float]]:
    """Stretches: thread, begin, end and time inside (ms)."""
    return [(row[0], *((time - 1000) / MS for time in row[1:3]), row[3] / MS) for row in out.stream().stretches]


def test_calls_that_follow_each_other_closely_are_one_stretch(
    probe: Probe, out: Recorded, now: Clock, number: list[int]
) -> None:
    """Calls of 2 ms at 0, 5 and 20 ms: the second comes 3 ms after the first, the third 13 ms after that."""
    for wait in (3, 13, 0):
        call(probe, now, 2)
        now.ns += wait * MS
    probe.native_calls.finish()

    assert told(out) == [(70, 0, 7, 4), (70, 20, 22, 2)]


def test_threads_have_stretches_of_their_own(probe: Probe, out: Recorded, now: Clock, number: list[int]) -> None:
    """Also where they take turns."""
    for thread in (70, 71, 70, 71):
        number[0] = thread
        call(probe, now, 1)
    probe.native_calls.finish()

    assert sorted(told(out)) == [(70, 0, 3, 2), (71, 1, 4, 2)]


def test_a_call_inside_of_another_one_counts_once(probe: Probe, out: Recorded, now: Clock, number: list[int]) -> None:
    """A callback that runs a graph with a callback."""
    outer = probe.native_calls.begun()
    call(probe, now, 3)
    now.ns += MS
    probe.native_calls.ended(outer)
    probe.native_calls.finish()

    assert told(out) == [(70, 0, 4, 4)]


def test_a_long_stretch_is_written_before_it_is_over(
    probe: Probe, out: Recorded, now: Clock, number: list[int]
) -> None:
    """Calls of 400 ms without a pause: two make a stretch, a third would make it longer than a second."""
    for _ in range(4):
        call(probe, now, 400)

    assert told(out) == [(70, 0, 800, 800)]


def test_what_ended_long_ago_is_written_while_another_thread_calls(
    probe: Probe, out: Recorded, now: Clock, number: list[int]
) -> None:
    """The thread may be gone, and nothing of it is kept."""
    call(probe, now, 1)
    number[0] = 71
    for _ in range(2):
        now.ns += 2000 * MS
        call(probe, now, 1)

    assert told(out)[0] == (70, 0, 1, 1)
    assert 70 not in vars(probe.native_calls)["_stretches"]


def test_a_call_that_goes_on_at_the_end_is_told(probe: Probe, out: Recorded, now: Clock, number: list[int]) -> None:
    """A generator that never gives up; what it says after that is passed over."""
    token = probe.native_calls.begun()
    now.ns += 30 * MS
    probe.native_calls.finish()
    probe.native_calls.ended(token)
    call(probe, now, 1)

    assert told(out) == [(70, 0, 30, 30)]


def test_threads_of_python_are_not_told(probe: Probe, out: Recorded, now: Clock) -> None:
    """The sampler knows when they end."""
    call(probe, now, 5)
    probe.native_calls.finish()

    assert told(out) == []


def test_a_thread_that_python_did_not_start_leaves_nothing_in_python(probe: Probe, out: Recorded) -> None:
    """`threading` does not know it afterwards."""
    done = _thread.allocate_lock()
    done.acquire()

    def run() -> None:
        probe.native_calls.ended(probe.native_calls.begun())
        done.release()

    before = set(vars(threading)["_active"])
    _thread.start_new_thread(run, ())
    assert done.acquire(timeout=60)
    probe.native_calls.finish()

    assert set(vars(threading)["_active"]) == before
    assert len(told(out)) == 1


def test_the_more_stretches_the_longer_they_are(
    probe: Probe, out: Recorded, now: Clock, number: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two were written, so that the gap is 10 ms: what Python ran is told in full all the same."""
    monkeypatch.setattr(native_calls, "RECORDS_APART", 2)
    for _ in range(6):
        call(probe, now, 1)
        now.ns += 8 * MS
    probe.native_calls.finish()

    assert told(out) == [(70, 0, 1, 1), (70, 9, 10, 1), (70, 18, 46, 4)]


def test_a_wrapped_function_gives_and_raises_what_it_did(probe: Probe, out: Recorded, number: list[int]) -> None:
    """And its time is told."""

    def divided(one: float, by: float = 1) -> Any:
        return one / by

    wrapped = probe.native_calls.wrap(divided)

    assert wrapped(6, by=2) == 3
    with pytest.raises(ZeroDivisionError):
        wrapped(6, by=0)
    assert vars(probe.native_calls)["_running"] == {}
