"""What a step of a foreign trace takes."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import steps
from tests.unit.foreign import Event, foreign, kernel, marked
from tests.unit.runs import MS


def test_what_the_device_still_does_when_the_last_step_ends_is_of_the_steps(tmp_path: Path) -> None:
    """The host has launched it in 20 ms; the device is done after 30 ms."""
    run = foreign(tmp_path / "r", marked("step 1", 0, 10), marked("step 2", 10, 10), kernel("gemm", 5, 25, delay=4))

    (summary,) = steps.of_run(run)
    assert (summary.median_ns, summary.p95_ns, summary.how) == (15 * MS, None, "window")


def test_what_was_launched_after_the_steps_is_not_of_them(tmp_path: Path) -> None:
    """It is something else."""
    run = foreign(
        tmp_path / "r",
        marked("step 1", 0, 10),
        marked("step 2", 10, 10),
        kernel("gemm", 5, 5, delay=1),
        kernel("other", 25, 10, delay=1),
    )

    assert [summary.median_ns for summary in steps.of_run(run)] == [10 * MS]


def test_without_a_device_a_step_is_done_when_it_ends(tmp_path: Path) -> None:
    """The median of the steps then."""
    ranges = [marked(f"step {n}", 10 * n, dur) for n, dur in enumerate((9, 4, 5))]
    run = foreign(tmp_path / "r", *ranges, Event("operator", "mm", 0, 30))

    assert [(summary.median_ns, summary.how) for summary in steps.of_run(run)] == [(5 * MS, "measured")]
