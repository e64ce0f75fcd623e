"""Ranges of the user's while the host ran no operator."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_between
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def test_ranges_of_the_user_have_the_time_in_which_no_operator_ran(tmp_path: Path) -> None:
    """Without that of ranges in them; steps, waits for data, and what torch names are none of the user's."""
    run = foreign(
        tmp_path / "r",
        marked("train_step 1", 0, 100),
        Event("operator", "aten::mm", 0, 10),
        marked("evaluate", 10, 50),
        Event("operator", "aten::mm", 20, 5),
        marked("save", 30, 20),
        Event("input", "next", 60, 20),
        marked("Optimizer.zero_grad#SGD.zero_grad", 80, 20),
    )

    found = trace_between.of_run(run)

    assert found is not None
    assert found.ns == 65 * MS
    assert found.ranges == {"evaluate": 25 * MS, "save": 20 * MS}


def test_ranges_of_other_threads_are_not_told(tmp_path: Path) -> None:
    """They go on beside the training."""
    run = foreign(tmp_path / "r", Event("operator", "aten::mm", 0, 10), marked("copy", 10, 50, lane="pool"))

    found = trace_between.of_run(run)

    assert found is not None
    assert found.ranges == {}


def test_a_thread_that_marks_steps_and_has_threads_of_the_engine_run_them_is_the_main_one(tmp_path: Path) -> None:
    """As with MXNet."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "dot", 0, 10, lane="engine"),
        marked("train_step 1", 0, 20, lane="python"),
        marked("write", 20, 30, lane="python"),
        marked("copy", 20, 30, lane="pool"),
    )

    found = trace_between.of_run(run)

    assert found is not None
    assert found.ranges == {"write": 30 * MS}


def test_beside_a_device_nothing_is_told(tmp_path: Path) -> None:
    """What the host did while it was idle is told there."""
    assert trace_between.of_run(foreign(tmp_path / "r", kernel("gemm", 0, 5), marked("save", 5, 5))) is None
