"""Rows of numbers that grow one by one."""

from __future__ import annotations

import pytest

from dlprof.ingest.own.columns import Columns, Metrics, Texts


def test_rows_come_back_as_they_were_added() -> None:
    """By their place, and one by one."""
    rows = Columns("qd")
    rows.append(1, 0.5)
    rows.append(-2, 1.5)
    assert (len(rows), rows[1], list(rows)) == (2, (-2, 1.5), [(1, 0.5), (-2, 1.5)])
    assert rows == [(1, 0.5), (-2, 1.5)]


def test_a_number_can_be_replaced() -> None:
    """Only that one."""
    rows = Columns("qq")
    rows.append(1, 2)
    rows.append(3, 4)
    rows.set(1, 0, 9)
    assert (rows.at(1, 0), list(rows)) == (9, [(1, 9), (3, 4)])


def test_a_part_of_a_column_is_a_copy() -> None:
    """It stays as it was when more rows come."""
    rows = Columns("i")
    for n in range(5):
        rows.append(n)
    part = rows.numbers(0, 1, 3)
    rows.set(0, 1, 7)
    assert (part.tolist(), rows.numbers(0).tolist()) == ([1, 2], [0, 7, 2, 3, 4])


def test_a_number_too_large_for_its_column_is_refused() -> None:
    """A damaged stream says such numbers; none is cut to what fits."""
    with pytest.raises(OverflowError):
        Columns("i").append(1 << 40)


def test_a_row_of_another_length_is_refused() -> None:
    """Columns never differ in length by a forgotten field."""
    with pytest.raises(ValueError, match="zip"):
        Columns("ii").append(1)


def test_texts_have_one_number_each() -> None:
    """Number 0 is no text; one that never came has none."""
    texts = Texts()
    assert [texts.number(text) for text in ("a", "b", "a", "")] == [1, 2, 1, 0]
    assert (texts.by_number, texts.known("b"), texts.known("c")) == (["", "a", "b"], 2, None)


def test_metrics_have_their_names() -> None:
    """Though the column has their numbers."""
    metrics = Metrics()
    metrics.add(2, 0, -1, 10**15, "loss", 0.25)
    metrics.add(2, 1, 3, 10**15 + 1, "loss", float("inf"))
    assert list(metrics) == [(2, 0, -1, 10**15, "loss", 0.25), (2, 1, 3, 10**15 + 1, "loss", float("inf"))]
    assert (metrics[0][4], metrics.numbers(4).tolist()) == ("loss", [1, 1])
