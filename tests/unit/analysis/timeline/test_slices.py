"""Slices by columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dlprof.analysis.timeline.slices import MISSING, Alike, Slices, What, each_for_itself, joined, numbers

STEP, CALL = What("step", "step"), What("call", "step", {"of": "fit"})


def test_rows_become_columns() -> None:
    """Each has what it is for itself."""
    found = each_for_itself([(5, 10, STEP), (7, 2, CALL)])

    assert (found.start_ns.tolist(), found.dur_ns.tolist(), found.what.tolist()) == ([5, 7], [10, 2], [0, 1])
    assert found.whats == [STEP, CALL]


def test_no_rows_are_no_slices() -> None:
    """An empty table is one, too."""
    assert len(each_for_itself([]).start_ns) == 0
    assert len(joined([]).start_ns) == 0


def test_kinds_are_joined_with_their_own_numbers() -> None:
    """What one kind has no number of is missing."""
    ones = np.array([1, 2], np.int64)

    found = joined(
        [Alike(STEP, ones, ones * 10, {"step": ones}), Alike(CALL, ones[:1], ones[:1], {"bytes": ones[:1] * 7})]
    )

    assert found.what.tolist() == [0, 0, 1]
    assert {name: values.tolist() for name, values in found.own.items()} == {
        "step": [1, 2, MISSING],
        "bytes": [MISSING, MISSING, 7],
    }


def test_slices_are_taken_with_their_numbers() -> None:
    """In the order that is asked for."""
    ones = np.array([1, 2, 3], np.int64)

    found = Slices(ones, ones, ones * 0, [STEP], {"step": ones * 10}).take(np.array([2, 0]))

    assert (found.start_ns.tolist(), found.own["step"].tolist()) == ([3, 1], [30, 10])


def test_null_is_missing_among_numbers() -> None:
    """0 is not: it is a number."""
    assert numbers(pa.chunked_array([pa.array([0, None], pa.int16())])).tolist() == [0, MISSING]
