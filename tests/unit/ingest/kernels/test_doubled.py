"""Events that a trace holds twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlprof.ingest.kernels.doubled import Doubled
from dlprof.ingest.kernels.events import Events
from dlprof.schema.vocabulary import EventKind


def events(count: int, twice: int, kind: int = EventKind.OPERATOR, dur: int = 5) -> Events:
    """So many events, the first of them again behind all others."""
    start = [1000 * n for n in [*range(count), *range(twice)]]
    whole = len(start)
    return Events.of(kind=[kind] * whole, name=[n % 7 for n in start], start=start, dur=[dur] * whole, lane=[0] * whole)


def looked_at(*parts: Events) -> Doubled:
    """What is found in these segments."""
    found = Doubled()
    for one in parts:
        found.look(one)
    return found


def test_events_that_are_there_twice_are_counted() -> None:
    """Wherever they stand; in several segments."""
    found = looked_at(events(100, 100), events(50, 0))

    assert (found.seen, found.again, found.are_many) == (250, 100, True)


@pytest.mark.parametrize(
    "some",
    [
        events(1000, 30),
        events(15, 15),
        events(100, 100, kind=EventKind.PYTHON),
        events(100, 100, dur=0),
        events(0, 0),
    ],
    ids=["a few", "of few", "functions of Python", "without a duration", "none"],
)
def test_what_chance_may_make_is_not_told(some: Events) -> None:
    """A function that only calls one of its name; a clock that counts in microseconds."""
    assert not looked_at(some).are_many


def test_of_another_thread_or_name_they_are_no_copies() -> None:
    """Workers begin alike; one operator begins with another one inside of it."""
    first = events(100, 0)
    both: dict[str, Any] = {
        name: np.concatenate([getattr(first, name)] * 2) for name in ("kind", "name", "start", "dur")
    }
    threads = Events.of(**both, lane=[0] * 100 + [1] * 100)
    names = Events.of(**{**both, "name": [1] * 100 + [2] * 100}, lane=[0] * 200)

    assert (looked_at(threads).again, looked_at(names).again) == (0, 0)


def test_of_very_many_a_part_is_looked_at() -> None:
    """All of a moment, or none: the share stays what it is."""
    found = looked_at(events(200_000, 200_000))

    assert found.seen < 200_000
    assert found.again * 2 == found.seen
