"""What a step's wall time consists of."""

from __future__ import annotations

import pytest

from dlprof.analysis import step_split
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op, step
from tests.unit.runs import table


def traced_run() -> Run:
    """Three plain steps of 105, then two traced ones of 205 in a window from 1000 to 1420."""
    steps = [
        step(0, 100, 900, compiled=True),
        *(step(n, 2000 + 200 * n, 100) for n in range(3)),
        step(3, 1005, 200),
        step(4, 1215, 200),
    ]
    return in_memory(
        steps=table("steps", steps),
        kernel_windows=table("kernel_windows", [
            {"window": 0, "engine": "torch", "source": "w", "loop": "train", "start_ns": 1000, "dur_ns": 420, "first_step": 4, "steps": 2,
             "start_cost_ns": 7, "stop_cost_ns": 9, "dropped": 0},
        ]),
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm"), op(1, "transfer", "copy"), op(2, "wait", "sync")]),
        kernel_events=table("kernel_events", [
            event(0, 1020, 100), event(0, 1080, 60), event(1, 1130, 20), event(2, 1150, 10), event(0, 1230, 100),
        ]),
    )  # fmt: skip


def test_a_step_is_split_by_what_ran() -> None:
    """Kernels 1020-1140 and 1230-1330, a copy to 1150, waiting to 1160, calls 1015-1175 and 1225-1385; input twice 5."""
    split = step_split.of_run(traced_run())

    assert split is not None
    assert split.window_step_ns == 205
    assert split.window_ns == {
        "kernels": 110,
        "transfer": 5,
        "input": 5,
        "sync": 5,
        "idle": 0,
        "dispatch": 40,
        "host python": 40,
    }
    assert sum(filter(None, split.window_ns.values())) == 205


def test_the_split_is_scaled_to_a_plain_step() -> None:
    """In whole nanoseconds that sum to it."""
    split = step_split.of_run(traced_run())

    assert split is not None and split.plain_ns is not None
    assert split.plain_step_ns == 105
    assert split.slowdown == pytest.approx(205 / 105)
    assert sum(filter(None, split.plain_ns.values())) == 105


def test_a_run_without_windows_has_no_split() -> None:
    """None, not zeros."""
    assert step_split.of_run(in_memory()) is None
