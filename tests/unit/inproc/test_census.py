"""A count of all events of a thread for some moments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from dlprof_probes.inproc import census
from dlprof_probes.inproc.census import Census


@pytest.fixture(autouse=True)
def _no_other() -> Iterator[None]:
    """What measures coverage gets its trace function back."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def work(turns: int) -> int:
    """Lines to count."""
    total = 0
    for i in range(turns):
        total += i
    return total


def taken(turns: int) -> Any:
    """A census during `work`, ended afterwards."""
    made = Census(lambda code: code is work.__code__, 0, lambda: None)
    made.start(sys._getframe())
    work(turns)
    made.stop()
    return made


def test_hits_of_profiled_lines_are_kept() -> None:
    """Three turns of the loop's body, of the one function that is profiled."""
    first = work.__code__.co_firstlineno

    hits = {line - first: count for (code, line), count in taken(3).hits.items() if code is work.__code__}

    assert hits == {2: 1, 3: 4, 4: 3, 5: 1}


def test_it_ends_by_itself() -> None:
    """After so many events, and gives the trace function back."""
    over: list[bool] = []
    made = Census(lambda _: False, 0, lambda: over.append(True))
    made.start(sys._getframe())
    work(1_000)

    assert (made.events, made.done, over, sys.gettrace()) == (census.EVENTS, True, [True], None)


def test_what_outlives_it_is_told_nothing_more() -> None:
    """A frame that was told of keeps no trace function for a debugger that comes later."""
    made = taken(3)
    frame: Any = sys._getframe()
    frame.f_trace = made.tell
    before = made.events

    assert made.tell(frame, "line", None) is None
    assert (made.events, frame.f_trace) == (before, None)


def test_its_own_cost_is_not_the_program_s_time() -> None:
    """10 events of 1 us in 50 us."""
    made: Any = Census(lambda _: False, 1_000, lambda: None)
    made.events, made._start, made._end = 10, 0, 50_000

    assert (made.own_ns, made.bare_ns, made.rate) == (10_000, 40_000, 250_000.0)


def test_the_cost_of_an_event_is_some_time() -> None:
    """And the thread has no trace function afterwards."""
    assert census.cost_of_event() >= 50
    assert sys.gettrace() is None
