"""Columns as numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import in_windows, integers, steps_of, total, truths
from dlprof.schema.vocabulary import Loop
from tests.unit.analysis.rows import step, window
from tests.unit.runs import table


def column(*values: object, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of two chunks."""
    return pa.chunked_array([pa.array(values[:1], kind), pa.array(values[1:], kind)])


def test_missing_numbers_are_what_is_asked_for() -> None:
    """0, if nothing is said."""
    some = column(3, None, kind=pa.int32())

    assert [integers(some).tolist(), integers(some, -7).tolist()] == [[3, 0], [3, -7]]
    assert integers(some).dtype == np.int64


def test_truths_are_numbers_too() -> None:
    """Null is no."""
    some = column(True, None, False, kind=pa.bool_())

    assert integers(some).tolist() == [1, 0, 0]
    assert truths(some).tolist() == [True, False, False]


def test_the_sum_of_nothing_is_zero() -> None:
    """Not null."""
    assert [total(column(None, kind=pa.int64())), total(column(2, 3, kind=pa.int64()))] == [0, 5]


def test_steps_are_chosen_by_their_loop() -> None:
    """A window without a loop has none."""
    steps = table("steps", [step(0, 0, 1), step(1, 5, 1, loop="test"), step(2, 9, 1)])

    assert steps_of(steps, Loop.TRAIN)["step"].to_pylist() == [0, 2]
    assert steps_of(steps, None).num_rows == 0


def test_steps_are_in_a_window_by_their_begin() -> None:
    """Windows of foreign traces have no loop, and no steps."""
    steps = table("steps", [step(0, 9, 5), step(1, 10, 5), step(2, 20, 5), step(3, 30, 5)])
    windows = table("kernel_windows", [window(10, 30, 2), window(30, 40, 1, loop=None)])

    assert in_windows(steps, windows).tolist() == [False, True, True, False]
