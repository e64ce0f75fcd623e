"""Intervals of differences between runs."""

from __future__ import annotations

import numpy as np

from dlprof.analysis import bootstrap


def test_runs_that_are_all_alike_leave_no_doubt() -> None:
    """The interval is the difference itself."""
    low, high = bootstrap.difference_of_means(np.full((3, 2), [5.0, 1.0]), np.full((4, 2), [3.0, 1.0]))

    assert low.tolist() == high.tolist() == [2.0, 0.0]


def test_an_interval_holds_the_difference_and_is_the_same_each_time() -> None:
    """Chance is drawn from one seed."""
    a, b = np.array([[10.0], [11.0], [12.0]]), np.array([[1.0], [2.0], [3.0]])

    found = bootstrap.difference_of_means(a, b)

    assert found[0][0] < 9.0 < found[1][0]
    assert found[0][0] > 7.0 and found[1][0] < 11.0
    assert [part.tolist() for part in bootstrap.difference_of_means(a, b)] == [part.tolist() for part in found]
