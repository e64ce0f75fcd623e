"""Rows of a comparison, and those that are told together."""

from __future__ import annotations

from dlprof.report import worth_a_row


def split(*deltas: float, full: bool = False, most: int | None = None) -> tuple[list[float], list[float]]:
    """Items that are their own difference."""
    return worth_a_row.split(deltas, lambda delta: delta, full=full, most=most)


def test_less_than_a_hundredth_of_all_differences_is_told_together() -> None:
    """In both directions."""
    assert split(900.0, -100.0, 5.0, -5.0) == ([900.0, -100.0], [5.0, -5.0])


def test_a_single_small_one_has_its_row() -> None:
    """No line is saved by another name for it."""
    assert split(900.0, 5.0) == ([900.0, 5.0], [])


def test_beyond_the_most_rows_they_are_told_together() -> None:
    """With the small ones."""
    assert split(900.0, 500.0, 400.0, 1.0, most=2) == ([900.0, 500.0], [400.0, 1.0])


def test_in_full_each_has_a_row() -> None:
    """However small."""
    assert split(900.0, 1.0, 2.0, full=True) == ([900.0, 1.0, 2.0], [])


def test_the_others_are_counted() -> None:
    """One of them is no plural."""
    assert [worth_a_row.others(count) for count in (1, 7)] == ["and 1 other", "and 7 others"]
