"""Tables of steps and phases of foreign traces."""

from __future__ import annotations

from pathlib import Path

from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def test_what_is_in_no_step_is_outside_of_the_steps(tmp_path: Path) -> None:
    """Before, between and after them; all of it sums to the trace."""
    run = foreign(
        tmp_path / "r", kernel("k", 0, 1), marked("step 1", 2, 5), marked("step 2", 10, 5), kernel("k", 17, 3)
    )

    assert [(row["phase"], row["start_ns"] / MS, row["dur_ns"] / MS) for row in run.rows("phase_intervals")] == [
        ("outside_steps", 0, 2),
        ("steps", 2, 5),
        ("outside_steps", 7, 3),
        ("steps", 10, 5),
        ("outside_steps", 15, 5),
    ]
    assert [(row["phase"], row["dur_ns"] / MS, row["count"]) for row in run.rows("phases")] == [
        ("steps", 10, 2),
        ("outside_steps", 10, 3),
    ]


def test_steps_that_train_are_those_of_fit(tmp_path: Path) -> None:
    """As in a script without Keras that marks its training."""
    run = foreign(tmp_path / "r", marked("train_step 1", 0, 10), marked("train_step 2", 10, 10))

    rows = [(row["phase"], row["parent"], row["dur_ns"] / MS, row["count"]) for row in run.rows("phases")]
    assert rows == [("fit", None, 20, 1), ("fit.steps", "fit", 20, 2)]


def test_a_trace_without_steps_is_one_phase(tmp_path: Path) -> None:
    """It is not called outside of steps that there are not."""
    run = foreign(tmp_path / "r", kernel("k", 0, 1), kernel("k", 5, 1))

    assert [(row["phase"], row["dur_ns"] / MS) for row in run.rows("phases")] == [("trace", 6)]
    assert run.rows("steps") == []


def test_a_step_begins_when_its_batch_is_there(tmp_path: Path) -> None:
    """As steps of own runs do: the wait comes before."""
    run = foreign(tmp_path / "r", marked("step 7", 0, 10), Event("input", "next", 0, 4))

    (step,) = run.rows("steps")
    assert (step["step"], step["start_ns"], step["dur_ns"], step["input_ns"]) == (7, 4 * MS, 6 * MS, 4 * MS)


def test_epochs_that_a_trace_counts_from_one_are_counted_from_zero(tmp_path: Path) -> None:
    """Those that it counts from zero keep their numbers: reports count all of them from one."""
    ranges = [marked("step 1", 0, 10), marked("step 2", 10, 10)]
    one = foreign(tmp_path / "a", *ranges, marked("epoch 1", 0, 20), marked("epoch 2", 20, 5))
    zero = foreign(tmp_path / "b", *ranges, marked("epoch 0", 0, 20), marked("epoch 1", 20, 5))

    for run in (one, zero):
        assert [(row["epoch"], row["steps"]) for row in run.rows("epochs")] == [(0, 2), (1, 0)]


def test_only_traced_time_has_phases(tmp_path: Path) -> None:
    """Between two traces of one process nothing is known."""
    run = foreign(tmp_path / "r", kernel("k", 0, 5), kernel("k", 20, 5, window=1))

    assert [(row["start_ns"] / MS, row["dur_ns"] / MS) for row in run.rows("phase_intervals")] == [(0, 5), (20, 5)]
