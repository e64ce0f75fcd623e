"""Differences between a few runs of each side."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.analysis import student


@pytest.mark.parametrize(
    ("t", "freedom", "chance"),
    [(12.706, 1, 0.05), (4.303, 2, 0.05), (2.776, 4, 0.05), (4.604, 4, 0.01), (2.042, 30, 0.05), (0.0, 3, 1.0)],
)
def test_chances_are_those_of_the_tables_of_students_distribution(t: float, freedom: float, chance: float) -> None:
    """Two-sided."""
    assert student.two_sided(t, freedom) == pytest.approx(chance, rel=1e-3)


def test_an_interval_is_that_of_welch() -> None:
    """Means 11 and 2, variances 1 and 1 of three runs: 9 -+ 2.776 sqrt(2/3) at 4 degrees of freedom."""
    low, high, chance = student.difference_of_means(np.array([[10.0], [11.0], [12.0]]), np.array([[1.0], [2.0], [3.0]]))

    assert (low[0], high[0]) == (pytest.approx(6.733, abs=1e-3), pytest.approx(11.267, abs=1e-3))
    assert chance[0] == pytest.approx(0.00038507, rel=1e-3)


def test_runs_that_are_all_alike_leave_no_doubt() -> None:
    """The interval is the difference itself."""
    low, high, chance = student.difference_of_means(np.full((3, 2), [5.0, 1.0]), np.full((4, 2), [3.0, 1.0]))

    assert low.tolist() == high.tolist() == [2.0, 0.0]
    assert chance.tolist() == [0.0, 1.0]


def test_intervals_of_three_runs_hold_what_they_should_of_a_thousand() -> None:
    """Of equal sides hardly more than 5 % are called different (the bootstrap: 14 %)."""
    draw = np.random.default_rng(1)
    low, high, _ = student.difference_of_means(draw.normal(size=(3, 1000)), draw.normal(size=(3, 1000)))

    assert 0.02 < float(np.mean((low > 0) | (high < 0))) < 0.06


def test_of_several_only_those_are_beyond_noise_that_no_chance_among_all_explains() -> None:
    """0.02 is beyond 0.05 by itself, but not beside two others that are not; after a sure one the next may be larger."""
    assert student.holm([0.02, 0.5, 0.9]) == [False, False, False]
    assert student.holm([0.001, 0.02, 0.9]) == [True, True, False]
    assert student.holm([0.02]) == [True]
    assert student.holm([]) == []
