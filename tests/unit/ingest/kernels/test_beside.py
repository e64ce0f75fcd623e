"""Lanes of operations that go on beside their thread."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dlprof.ingest.kernels.beside import LANES_AT_MOST, Beside
from dlprof.ingest.kernels.events import Events
from dlprof.ingest.kernels.trace import Trace


def placed(*spans: tuple[int, int], calls: Sequence[tuple[int, int]] = ()) -> list[tuple[str, int, int]]:
    """Lane, start and end of operations with these starts and ends, whose calls took no time, in order of start.

    Args:
        spans: Starts and ends.
        calls: When the thread that did the last part of all of them was within operations.
    """
    trace = Trace(Path("t"), "xspace", "xla")
    beside = Beside(trace)
    for start, end in calls:
        beside.calls(3, np.asarray([start]), np.asarray([end]))
    for start, end in spans:
        events = Events.of(kind=[0], name=[0], start=[start], dur=[end - start])
        beside.add(events, np.asarray([start]), np.asarray([3]))
    beside.put()
    events = Events.concat(list(trace.events.chunks()))
    rows = zip(events.start.tolist(), events.ends.tolist(), events.lane.tolist(), strict=True)
    return [(trace.lanes[lane].name, start, end) for start, end, lane in sorted(rows)]


def test_two_at_a_time_have_two_lanes_and_a_lane_is_used_again() -> None:
    """The third begins when the first has ended."""
    assert placed((0, 10), (5, 20), (10, 30)) == [
        ("asynchronous 0", 0, 10),
        ("asynchronous 1", 5, 20),
        ("asynchronous 0", 10, 30),
    ]


def test_there_are_no_more_lanes_than_threads_can_be() -> None:
    """A damaged file may have as many at a time as it likes."""
    names = {lane for lane, _, _ in placed(*((start, 10_000) for start in range(2 * LANES_AT_MOST)))}

    assert len(names) == LANES_AT_MOST


def test_while_its_thread_was_within_other_operations_it_waited() -> None:
    """Of 100 ns another operation, and one within it, had 60; the last one was over before."""
    assert placed((100, 200), calls=[(50, 90), (120, 180), (130, 140)]) == [("asynchronous 0", 160, 200)]


def test_a_call_that_reaches_over_its_end_counts_up_to_there() -> None:
    """As one that began before: 20 and 30 of 100 ns."""
    assert placed((100, 200), calls=[(80, 120), (170, 250)]) == [("asynchronous 0", 150, 200)]


def test_nothing_is_put_where_nothing_went_on() -> None:
    """No lane is made."""
    assert placed() == []
