"""Medians and percentiles, found by counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlprof.analysis import order_statistics
from dlprof.analysis.order_statistics import PASSES, Search


def found(numbers: Any, share: float, weights: Any = None, pieces: int = 1) -> float:
    """A quantile of some numbers that come in pieces."""
    numbers = np.asarray(numbers, np.float64)
    weights = np.ones(len(numbers), np.int64) if weights is None else np.asarray(weights)
    count = int(weights.sum())
    search = Search(order_statistics.places_of(share, count))
    for _ in range(PASSES):
        for part, own in zip(np.array_split(numbers, pieces), np.array_split(weights, pieces), strict=True):
            search.add(part, own)
        search.narrow()
    return order_statistics.quantile(search, share, count)


@pytest.mark.parametrize(
    ("numbers", "share", "expected"),
    [
        ([3.0], 0.5, 3.0),
        ([4.0, 1.0], 0.5, 2.5),
        ([5.0, 1.0, 3.0], 0.5, 3.0),
        ([7.0] * 9, 0.95, 7.0),
        ([-1.5, 0.0, 2.0, -8.0], 0.5, -0.75),
        (list(range(101)), 0.95, 95.0),
        ([0.0, 10.0], 0.95, 9.5),
    ],
)
def test_a_quantile_lies_between_its_neighbours(numbers: list[float], share: float, expected: float) -> None:
    """By linear interpolation; also of negative numbers."""
    assert found(numbers, share) == expected


def test_a_number_counts_as_often_as_its_weight_says() -> None:
    """One row of eight steps, and one of a single step."""
    assert found([2.0, 100.0], 0.5, [8, 1]) == 2.0


def test_pieces_give_the_figures_of_the_whole_to_the_last_bit() -> None:
    """As numpy has them of all numbers at once."""
    numbers = np.random.default_rng(4).lognormal(16, 2, 5001)
    for share in (0.5, 0.95):
        assert found(numbers, share, pieces=13) == float(np.percentile(numbers, 100 * share))


def test_numbers_that_differ_in_the_last_bit_are_told_apart() -> None:
    """The next number above one."""
    above = np.nextafter(1.0, 2.0)
    assert found([1.0, above, above], 0.5) == above
