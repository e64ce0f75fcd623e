"""Stretches of time by whole columns."""

from __future__ import annotations

import numpy as np

from dlprof.analysis.stretches import Stretches


def of(*pairs: tuple[int, int]) -> Stretches:
    """What these intervals cover."""
    return Stretches.covered(np.asarray([a for a, _ in pairs], np.int64), np.asarray([b for _, b in pairs], np.int64))


def test_what_overlaps_counts_once() -> None:
    """0-10, 5-20 and 30-40, in any order, are 30 ns; what only touches is one stretch."""
    assert of((30, 40), (0, 10), (5, 20)).ns == 30
    assert of((0, 10), (10, 20)).begin.tolist() == [0]


def test_a_short_interval_inside_a_long_one_does_not_end_it() -> None:
    """0-100 with 10-20 inside is one stretch, also for what begins at 50."""
    assert (of((0, 100), (10, 20), (50, 110)).begin.tolist(), of((0, 100), (10, 20), (50, 110)).ns) == ([0], 110)


def test_none_cover_nothing() -> None:
    """Without intervals there is no time."""
    assert of().ns == 0


def test_shared_time_is_in_both() -> None:
    """0-10 and 20-30 share 5 + 2 with 5-22."""
    assert of((0, 10), (20, 30)).shared_ns(of((5, 22))) == 7


def test_stretches_are_cut_to_a_window() -> None:
    """Of 0-10 and 20-30, 5-25 holds 10; what ends where it begins is gone."""
    cut = of((0, 5), (5, 10), (20, 30)).within(5, 25)
    assert (cut.begin.tolist(), cut.end.tolist()) == ([5, 20], [10, 25])


def test_a_moment_is_held_from_the_begin_of_a_stretch_up_to_its_end() -> None:
    """Two stretches, with nothing between them; none holds none."""
    moments = np.array([9, 10, 19, 20, 30, 40], np.int64)
    assert Stretches.of([(10, 20), (30, 40)]).hold(moments).tolist() == [False, True, True, False, True, False]
    assert not Stretches.of([]).hold(moments).any()


def test_the_time_between_moments_that_is_in_them_is_told_for_each_pair() -> None:
    """Of 0 to 10 and 20 to 30: from inside to inside, across a gap, and before, behind and between them."""
    stretches = Stretches.of([(0, 10), (20, 30)])

    found = stretches.lengths_within(np.array([5, 5, -5, 30, 12]), np.array([8, 25, 0, 40, 18]))

    assert found.tolist() == [3, 10, 0, 0, 0]
    assert Stretches.of([]).lengths_within(np.array([0]), np.array([9])).tolist() == [0]
