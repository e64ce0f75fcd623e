"""Sums by several keys."""

from __future__ import annotations

import numpy as np

from dlprof.analysis import grouped


def test_amounts_are_summed_by_all_keys_in_the_order_in_which_they_came() -> None:
    """(1, 0) comes first, and again last."""
    keys = np.array([1, 0, 1, 1]), np.array([0, 0, 7, 0])
    assert grouped.sums(keys, np.array([5, 6, 7, 8])) == [((1, 0), 13), ((0, 0), 6), ((1, 7), 7)]


def test_sums_are_whole_numbers_beyond_those_of_floats() -> None:
    """2**53 + 1 is no float."""
    assert grouped.sums([np.array([0, 0])], np.array([2**53, 1])) == [((0,), 2**53 + 1)]


def test_keys_of_any_range_are_told_apart() -> None:
    """Such as numbers of threads, and what a damaged table says."""
    keys = np.array([-(1 << 62), 1 << 62, 3]), np.array([1 << 61, 0, -5]), np.array([0, 1, 2])
    assert grouped.sums(keys, np.array([1, 2, 3])) == [
        ((-(1 << 62), 1 << 61, 0), 1),
        ((1 << 62, 0, 1), 2),
        ((3, -5, 2), 3),
    ]


def test_nothing_has_no_sums() -> None:
    """Not one of 0."""
    assert grouped.sums([np.empty(0, np.int64)], np.empty(0, np.int64)) == []
