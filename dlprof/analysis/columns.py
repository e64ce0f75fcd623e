"""Columns of tables as arrays of numbers, and rows of steps that are chosen by several figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.schema.vocabulary import Loop

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


def integers(column: pa.ChunkedArray, missing: int = 0) -> Integers:
    """A column of whole numbers, or of truths, as 64-bit integers.

    Args:
        column: Any column of integers or truths.
        missing: Stands for null.
    """
    whole = column if column.type == pa.int64() else pc.cast(column, pa.int64())
    if whole.null_count:
        whole = pc.fill_null(whole, pa.scalar(missing, pa.int64()))
    return np.asarray(whole.to_numpy(), np.int64)


def truths(column: pa.ChunkedArray) -> Truths:
    """A column of truths; null is no."""
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), bool)


def total(column: pa.ChunkedArray) -> int:
    """Sum of a column of integers; of none it is 0."""
    return int(pc.sum(column).as_py() or 0)


def steps_of(steps: pa.Table, loop: Loop | None) -> pa.Table:
    """The rows of the table `steps` that belong to one kind of loop; none for None."""
    return steps.filter(pc.equal(steps["loop"].cast(pa.string()), loop or ""))


def in_windows(steps: pa.Table, windows: pa.Table) -> Truths:
    """Whether each step began inside a kernel window of a loop.

    Args:
        steps: Table `steps`.
        windows: Table `kernel_windows`.
    """
    return _begin_in(steps, [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in _of_loops(windows)])


def under_tracer(steps: pa.Table, windows: pa.Table) -> Truths:
    """Whether each step began while a tracer was on: in a window, or beside it, for it was disturbed.

    Args:
        steps: Table `steps`.
        windows: Table `kernel_windows`.
    """
    return _begin_in(
        steps,
        [
            (
                row["start_ns"] - (row["start_cost_ns"] or 0),
                row["start_ns"] + row["dur_ns"] + (row["stop_cost_ns"] or 0),
            )
            for row in _of_loops(windows)
        ],
    )


def _of_loops(windows: pa.Table) -> list[dict[str, Any]]:
    return [row for row in windows.to_pylist() if row["loop"] is not None]


def _begin_in(steps: pa.Table, stretches: Iterable[tuple[int, int]]) -> Truths:
    start = integers(steps["start_ns"])
    inside = np.zeros(len(start), bool)
    for begin, end in stretches:
        inside |= (start >= begin) & (start < end)
    return inside
