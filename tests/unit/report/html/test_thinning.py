"""Tracks of which a page draws no more events than it has room for."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.report.html import thinning
from dlprof.report.html.thinning import Thinner, Track


def track(start: list[int], dur: list[int], label: str = "t") -> Track:
    """Events of names 0, 1, 2 and so on."""
    return Track(label, "host", np.array(start, np.int64), np.array(dur, np.int64), np.arange(len(start)))


def test_many_short_neighbours_are_drawn_as_one() -> None:
    """Long events stay; the number of all that are drawn as one is kept."""
    start = np.arange(10_000, dtype=np.int64) * 100
    dur = np.full(10_000, 50, np.int64)
    dur[5000] = 90
    track = Track("t", "host", start, dur, np.zeros(10_000, np.int64))
    (thin,) = thinning.thinned([track], 1000)

    assert len(thin.start_ns) <= 1000
    assert thin.merged is not None
    assert int(thin.merged.sum()) == 10_000
    assert int((thin.start_ns + thin.dur_ns).max()) == int((start + dur).max())


def test_few_events_are_left_as_they_are() -> None:
    """Nothing is merged."""
    track = Track("t", "host", np.arange(10), np.ones(10, np.int64), np.zeros(10, np.int64))
    assert thinning.thinned([track], 1000) == [track]


def test_events_in_pieces_are_joined_as_all_of_them_at_once() -> None:
    """The same shapes, named by the same events, whatever is cut between."""
    random = np.random.default_rng(3)
    dur = random.integers(1, 3000, 20_000)
    start = np.cumsum(random.integers(0, 500, 20_000)) + np.concatenate(([0], np.cumsum(dur)[:-1]))
    whole = Track("t", "host", start, dur, np.arange(20_000))
    thinner = Thinner(1000)
    for low in range(0, 20_000, 777):
        rows = slice(low, low + 777)
        thinner.add(Track("t", "host", start[rows], dur[rows], np.arange(20_000)[rows]))
    (at_once,), (in_pieces,) = thinning.thinned([whole], 1000), thinner.tracks()

    for name in ("start_ns", "dur_ns", "name", "merged", "longest_ns"):
        assert getattr(in_pieces, name).tolist() == getattr(at_once, name).tolist()


def test_what_was_joined_can_be_joined_further() -> None:
    """A shape of short events is not taken for a long one: by its own length it would stay."""
    thin = thinning.thinned([track([n * 100 for n in range(4000)], [50] * 4000)], 400)
    (again,) = thinning.thinned(thin, 100)
    assert (len(again.start_ns), again.events) == (98, 4000)


def test_tracks_come_back_in_the_order_in_which_they_came() -> None:
    """By their first piece."""
    thinner = Thinner(10)
    for label, at in (("b", 0), ("a", 0), ("b", 5)):
        thinner.add(track([at], [1], label))
    assert [(one.label, one.start_ns.tolist()) for one in thinner.tracks()] == [("b", [0, 5]), ("a", [0])]


def test_events_that_come_out_of_order_are_put_in_order() -> None:
    """A page writes them by their differences, which are never negative."""
    thinner = Thinner(10)
    thinner.add(track([100], [1]))
    thinner.add(track([10, 10], [5, 50]))
    (found,) = thinner.tracks()
    assert (found.start_ns.tolist(), found.dur_ns.tolist()) == ([10, 10, 100], [50, 5, 1])


@pytest.mark.parametrize("most", [50, 500])
def test_no_more_events_are_kept_than_asked_for(most: int) -> None:
    """All tracks together, and their count is not lost."""
    thinner = Thinner(most)
    for label in ("a", "b"):
        thinner.add(track([n * 100 for n in range(3000)], [50] * 3000, label))
    found = thinner.tracks()
    assert sum(len(one.start_ns) for one in found) <= most
    assert [one.events for one in found] == [3000, 3000]
