"""What a step takes, plain and in a kernel window."""

from __future__ import annotations

from dlprof.analysis import step_times
from dlprof.schema.tables import TABLES
from tests.unit.analysis.rows import step
from tests.unit.runs import table


def test_where_dispatch_is_asynchronous_whole_epochs_are_compared() -> None:
    """The second epoch has neither a first step nor a window: 300 ns of 3 steps."""
    tables = {
        "steps": table("steps", [step(0, 0, 10, compiled=True), step(1, 20, 10), *(step(n, 1000 + n, 1, epoch=1) for n in range(3))]),
        "epochs": table("epochs", [
            {"loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": 500, "steps": 2},
            {"loop_id": 1, "epoch": 1, "start_ns": 900, "dur_ns": 400, "steps": 3},
        ]),
        "phase_intervals": table("phase_intervals", [
            {"phase": "fit.steps", "start_ns": 900, "dur_ns": 300}, {"phase": "fit.validation", "start_ns": 1200, "dur_ns": 100},
        ]),
        "metrics": TABLES["metrics"].empty_table(),
        "kernel_windows": table("kernel_windows", [
            {"window": 0, "loop": "train", "start_ns": 15, "dur_ns": 400, "steps": 1, "start_cost_ns": 1, "stop_cost_ns": 1},
        ]),
    }  # fmt: skip
    found = step_times.compare(tables, 0, asynchronous=True)

    assert found == step_times.StepTimes(100, 400, 3, "mean")


def test_without_a_whole_plain_epoch_nothing_is_compared() -> None:
    """Not measured, rather than a figure in which other steps count."""
    tables = {name: TABLES[name].empty_table() for name in ("steps", "metrics", "phase_intervals")}
    tables["epochs"] = table("epochs", [{"loop_id": 1, "epoch": 0, "start_ns": 0, "dur_ns": 500, "steps": 2}])
    tables["steps"] = table("steps", [step(0, 0, 10, compiled=True)])
    tables["kernel_windows"] = table(
        "kernel_windows", [{"window": 0, "loop": "train", "start_ns": 15, "dur_ns": 400, "steps": 4}]
    )

    assert step_times.compare(tables, 0, asynchronous=True).plain_ns is None
