"""Parts of the report of a run of foreign traces."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import breakdown
from dlprof.report import imported_parts
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def test_a_step_consists_of_the_mean_of_its_parts(tmp_path: Path) -> None:
    """Of two steps of 10 ms, with 12 ms of kernels and 4 ms of waiting in them."""
    run = foreign(
        tmp_path / "r",
        marked("train_step 1", 0, 10),
        marked("train_step 2", 10, 10),
        kernel("gemm", 0, 12),
        Event("wait", "cudaDeviceSynchronize", 12, 4),
    )
    split = imported_parts.step_parts(run, breakdown.of_run(run))

    assert split is not None
    assert (split.loop, split.engine, split.steps, split.window_step_ns) == ("train", "torch", 2, 10 * MS)
    assert {part.name: (part.window_ns or 0) / MS for part in split.parts if part.window_ns} == {
        "kernels": 6,
        "sync": 2,
        "idle": 2,
    }


def test_a_trace_without_steps_has_no_parts_of_a_step(tmp_path: Path) -> None:
    """Though its time is split."""
    run = foreign(tmp_path / "r", kernel("gemm", 0, 12), kernel("gemm", 16, 4))
    tree = breakdown.of_run(run)

    assert imported_parts.step_parts(run, tree) is None
    assert [(leaf.path, leaf.ns / MS) for leaf in imported_parts.leaves(tree) or ()] == [
        ("trace/kernels/matmul", 16),
        ("trace/idle", 4),
    ]


def test_sums_without_times_have_no_leaves() -> None:
    """None, not an empty tree that would say that nothing took time."""
    assert imported_parts.leaves(None) is None


def test_kernels_with_most_time_are_those_of_the_gpu(tmp_path: Path) -> None:
    """Operators of the host beside them are not counted in."""
    run = foreign(
        tmp_path / "r",
        Event("operator", "mm", 0, 90),
        kernel("relu", 10, 1, category="elementwise"),
        kernel("gemm", 20, 3),
    )
    facts = imported_parts.facts(run, None)

    assert (facts.kernels, facts.kernels_ns) == ([("gemm", 3 * MS), ("relu", 1 * MS)], 4 * MS)


def test_parts_that_the_trace_shows_nothing_of_are_not_known(tmp_path: Path) -> None:
    """Without stacks there is no time of Python in it, which does not say that Python took none."""
    run = foreign(tmp_path / "r", marked("step 1", 0, 10), Event("operator", "mm", 0, 6))
    split = imported_parts.step_parts(run, breakdown.of_run(run))

    assert split is not None
    assert {part.name: part.window_ns for part in split.parts} == {
        "kernels": 6 * MS,
        "idle": 4 * MS,
        "dispatch": 0,
        "transfer": None,
        "input": None,
        "sync": None,
        "host python": None,
    }


def test_copies_and_waits_are_known_to_be_none_where_devices_were_traced(tmp_path: Path) -> None:
    """Their tracer shows those, too."""
    run = foreign(tmp_path / "r", marked("step 1", 0, 10), kernel("gemm", 0, 6))
    split = imported_parts.step_parts(run, breakdown.of_run(run))

    assert split is not None
    assert {part.name: part.window_ns for part in split.parts if part.name in ("transfer", "sync")} == {
        "transfer": 0,
        "sync": 0,
    }
