"""Rows of the table of windows."""

from __future__ import annotations

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.kernels.windows import KernelWindow, windows_table
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Loop


def test_a_window_is_a_row_of_the_schema() -> None:
    """What it does not say is null."""
    table = windows_table(
        [
            KernelWindow(ProcessId("h", 2, 42, 5), 3, "torch", "w.json", 100, 50, loop=Loop.TEST, steps=4),
        ]
    )

    assert table.schema == TABLES["kernel_windows"]
    assert table.to_pylist() == [{
        "host": "h", "rank": 2, "pid": 42, "window": 3, "engine": "torch", "source": "w.json", "loop": "test", "start_ns": 100,
        "dur_ns": 50, "first_step": None, "steps": 4, "start_cost_ns": None, "stop_cost_ns": None, "dropped": 0,
    }]  # fmt: skip
