"""When events run without those inside them."""

from __future__ import annotations

import numpy as np

from dlprof.analysis import own_stretches


def _of(*events: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """The stretches of events (thread, begin, end), in order of the events."""
    lane, start, end = (np.asarray(column, np.int64) for column in zip(*events, strict=True))
    found = own_stretches.of_events(lane, start, end)
    return sorted(zip(*(column.tolist() for column in found), strict=True), key=lambda one: (one[2], one[0]))


def test_a_moment_is_that_of_the_innermost_event_of_its_thread() -> None:
    """What it calls is not its own time."""
    assert _of((1, 0, 100), (1, 10, 40), (1, 20, 30), (1, 40, 50)) == [
        (0, 10, 0),
        (50, 100, 0),
        (10, 20, 1),
        (30, 40, 1),
        (20, 30, 2),
        (40, 50, 3),
    ]


def test_threads_do_not_nest_in_one_another() -> None:
    """Each has its own."""
    assert _of((1, 0, 100), (2, 10, 20)) == [(0, 100, 0), (10, 20, 1)]


def test_what_reaches_beyond_the_event_around_it_ends_when_it_ends() -> None:
    """Some makers overlap."""
    assert _of((1, 0, 10), (1, 5, 20)) == [(0, 5, 0), (5, 20, 1)]


def test_time_between_events_is_nobodys() -> None:
    """And an event without duration has none."""
    assert _of((1, 0, 10), (1, 20, 20), (1, 30, 40)) == [(0, 10, 0), (30, 40, 2)]
