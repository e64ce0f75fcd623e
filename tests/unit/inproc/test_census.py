"""A count of all events of a thread for some moments."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import census
from dlprof_probes.inproc.census import Census
from line_profiler import LineProfiler


@pytest.fixture(autouse=True)
def _no_other() -> Iterator[None]:
    """What measures coverage gets its trace function back."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


FRAME: Any = SimpleNamespace(f_trace=None)


def work(turns: int) -> int:
    """Lines to count."""
    total = 0
    for i in range(turns):
        total += i
    return total


def nap() -> None:
    """One line that takes its time, and one that does not."""
    time.sleep(0.02)
    return None  # noqa: PLR1711, RET501


def taken(turns: int) -> Any:
    """A census during `work`, ended afterwards."""
    made = Census(lambda code: code is work.__code__, 0, lambda: None)
    made.start(sys._getframe())
    work(turns)
    made.stop()
    return made


def test_hits_of_profiled_lines_are_told_apart() -> None:
    """Three turns of the loop's body, of the one function that is profiled: its lines are run 1, 4, 3 and 1 times."""
    made = taken(3)

    assert made.hits == 9
    assert made.events > 9


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="line_profiler has no trace function from 3.12 on")
def test_a_line_profiler_that_it_stands_in_for_misses_nothing() -> None:
    """Hits and time of a function that begins and ends within a census."""
    profiler = LineProfiler(nap)
    profiler.enable()
    manager = sys.gettrace()
    sys.settrace(None)
    made = Census(lambda code: code is nap.__code__, 0, lambda: None, manager)

    made.start(sys._getframe())
    nap()
    made.stop()
    profiler.disable()

    ((_, lines),) = profiler.get_stats().timings.items()
    first = nap.__code__.co_firstlineno
    assert [(line - first, hits) for line, hits, _ in lines] == [(2, 1), (3, 1)]
    assert lines[0][2] * profiler.get_stats().unit == pytest.approx(0.02, rel=0.5)


def test_an_event_that_is_on_its_way_when_it_ends_is_handed_on() -> None:
    """A call between two instructions may end it right there, before it has seen the event; not so one that comes later."""
    told: list[str] = []

    def manager(_frame: Any, event: str, _arg: Any) -> None:
        told.append(event)  # calls too, from when it is the interpreter's trace function

    made = Census(lambda _: False, 0, lambda: sys.settrace(manager), manager)
    made.start(None)
    made.stop()
    told.clear()
    made.tell(FRAME, "on its way", None)
    sys.settrace(None)
    made.tell(FRAME, "later", None)

    assert [event for event in told if event != "call"] == ["on its way"]


def test_a_frame_that_outlived_a_census_is_told_of_by_the_next() -> None:
    """Its local trace function is still that of the one before."""
    here = sys._getframe().f_code
    first, second = (Census(lambda code: code is here, 0, lambda: None) for _ in range(2))
    first.start(sys._getframe())
    first.stop()
    second.start(sys._getframe())
    len("a line")
    second.stop()

    assert second.hits > 0


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

    assert (made.own_ns, made.bare_ns, made.rate()) == (10_000, 40_000, 250_000.0)


def test_the_cost_of_an_event_is_some_time() -> None:
    """And the thread has no trace function afterwards."""
    assert census.cost_of_event() >= 50
    assert sys.gettrace() is None
