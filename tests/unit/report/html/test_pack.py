"""Columns of numbers in a page."""

from __future__ import annotations

import numpy as np

from dlprof.report.html.pack import Pack
from tests.unit.report.html.pages import column, header


def test_columns_come_back_as_they_were() -> None:
    """Small and large numbers, differences, floats and what was not measured."""
    pack = Pack()
    numbers = [0, 1, 127, 128, 16_383, 16_384, 2**31, 2**40 + 5]
    pack.unsigned(numbers)
    pack.rising([5, 5, 300, 2**41])
    pack.floats([0.5, float("nan")])
    content, columns = header(pack.text({"x": 1}))

    assert column(content, columns, 0) == numbers
    assert column(content, columns, 1) == [5, 5, 300, 2**41]
    assert column(content, columns, 2)[0] == 0.5
    assert np.isnan(column(content, columns, 2)[1])
    assert content["x"] == 1


def test_an_empty_column_comes_back_empty() -> None:
    """A track of a side that has no events."""
    pack = Pack()
    pack.unsigned([])
    content, columns = header(pack.text({}))
    assert column(content, columns, 0) == []
