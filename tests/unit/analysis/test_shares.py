"""Shares are whole numbers, and nothing is lost to rounding."""

from __future__ import annotations

from dlprof.analysis.shares import proportional


def test_shares_are_whole_numbers_that_sum_to_the_whole() -> None:
    """What rounding leaves goes to the largest."""
    assert proportional(100, {"a": 1, "b": 1, "c": 1}) == {"a": 34, "b": 33, "c": 33}
