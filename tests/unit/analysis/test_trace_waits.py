"""Waits for data in runs of foreign traces."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_waits
from dlprof.analysis.trace_waits import Waits
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import MS


def test_waits_are_told_by_where_they_begin_and_nested_ones_are_one(tmp_path: Path) -> None:
    """In a step, and between two."""
    run = foreign(
        tmp_path / "r",
        marked("step 1", 0, 20),
        marked("data_load", 0, 8),
        marked("load batch", 1, 6),
        marked("data_load", 22, 4),
        marked("step 2", 30, 20),
        Event("input", "next", 30, 6),
        Event("operator", "mm", 40, 10),
    )

    assert trace_waits.by_root(run) == {
        "steps": Waits(2, 8 * MS, 14 * MS, 6 * MS),
        "outside_steps": Waits(1, 4 * MS, 4 * MS, 6 * MS),
    }


def test_waits_that_repeat_or_are_as_the_others_are_of_batches() -> None:
    """One that is much longer than all others loads a data set."""
    assert Waits(3, 10, 25, None).are_of_batches
    assert Waits(1, 10, 10, 8.0).are_of_batches
    assert not Waits(1, 100, 100, 8.0).are_of_batches
    assert not Waits(2, 10, 20, None).are_of_batches
    assert not Waits(4, 100, 130, 10.0).are_of_batches


def test_a_trace_without_waits_has_none(tmp_path: Path) -> None:
    """Nor has a place in which none begins."""
    run = foreign(tmp_path / "r", Event("operator", "mm", 0, 10))

    assert trace_waits.by_root(run) == {}
