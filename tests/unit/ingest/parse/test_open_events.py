"""Begins that wait for their ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest import limits
from dlprof.ingest.limits import LimitError, Limits
from dlprof.ingest.parse.open_events import OpenEvents


def test_an_end_is_that_of_the_last_begin_of_its_thread() -> None:
    """Threads do not meet."""
    open_: OpenEvents[str] = OpenEvents()
    for key, begun in ((1, "a"), (2, "b"), (1, "c")):
        open_.begin(key, begun)

    assert (open_.last(1), open_.end(1), open_.end(2), open_.end(1)) == ("c", "c", "b", "a")


def test_begins_without_ends_and_ends_without_begins_are_counted() -> None:
    """One of each thread."""
    open_: OpenEvents[str] = OpenEvents()
    open_.begin(1, "a")

    assert open_.end(2) is None
    assert open_.unpaired == 2


def test_so_many_begins_wait_as_fit_into_memory_and_those_that_ended_do_not_count() -> None:
    """A file of nothing but begins is refused."""
    open_: OpenEvents[int] = OpenEvents()
    with limits.applied(Limits.of_memory(64 << 20), Path("a")):
        for number in range(200_000):
            open_.begin(1, number)
            open_.end(1)
        with pytest.raises(LimitError, match="begins without an end"):
            for number in range(200_000):
                open_.begin(1, number)
