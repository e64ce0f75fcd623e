"""Figures of the steps of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.analysis import steps
from dlprof.schema.tables import TABLES
from tests.unit.runs import MS, table

NO_WINDOWS = TABLES["kernel_windows"].empty_table()


def step(number: int, dur_ms: float, **changes: Any) -> dict[str, Any]:
    """A training step of 100 samples that waited 1 ms for its input."""
    return {
        "thread_id": 1, "loop": "train", "loop_id": 1, "epoch": 0, "step": number, "count": 1,
        "start_ns": 1000 * MS + number * 20 * MS, "dur_ns": int(dur_ms * MS), "input_ns": MS, "callbacks_ns": 0,
        "call_offset_ns": 0, "call_ns": int(dur_ms * MS), "compiled": False, "first": False, "samples": 100, **changes,
    }  # fmt: skip


def test_steady_figures_leave_out_steps_that_compiled() -> None:
    """A step lasts from the end of the batch before it: 9 + 1 ms."""
    found = steps.summarise(
        table("steps", [step(0, 99, compiled=True), step(1, 9), step(2, 9), step(3, 11)]), NO_WINDOWS
    )[0]

    assert (found.count, found.first_ns, found.median_ns, found.compiled) == (4, 100 * MS, 10 * MS, 1)
    assert found.samples_per_s == pytest.approx(300 / 0.032)


def test_unknown_numbers_of_samples_give_no_throughput() -> None:
    """Not 0."""
    assert steps.summarise(table("steps", [step(1, 9, samples=None)]), NO_WINDOWS)[0].samples_per_s is None
