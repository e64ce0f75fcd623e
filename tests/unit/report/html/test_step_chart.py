"""Steps of each loop for a chart."""

from __future__ import annotations

from pathlib import Path

from tests.unit.report.html.pages import page_of, unpacked
from tests.unit.runs import MS, manifest, steps, trained, window


def test_steps_have_the_median_of_the_report(tmp_path: Path) -> None:
    """20 ms in both."""
    content, _ = unpacked(page_of(trained(tmp_path / "r")))
    (loop,) = content["steps"]
    assert loop["median_ns"] == 20 * MS
    assert loop["step_ms"] == [20.0] * 250


def test_compiled_steps_and_epochs_are_marked(tmp_path: Path) -> None:
    """By their running number."""
    rows = steps(10)
    rows[0]["compiled"] = rows[0]["first"] = True
    for row in rows[5:]:
        row["epoch"] = 1
    (loop,) = unpacked(page_of(trained(tmp_path / "r", steps=rows)))[0]["steps"]
    assert (loop["compiled"], loop["epoch_starts"]) == ([0], [0, 5])


def test_dispatches_have_no_median(tmp_path: Path) -> None:
    """The report's figure is of steps that were waited for; the chart shows what the host did."""
    backend = {"name": "jax", "source": "managed", "asynchronous_dispatch": True, "input_inside_step": False}
    (loop,) = unpacked(page_of(trained(tmp_path / "r", manifest(backend=backend))))[0]["steps"]
    assert (loop["median_ns"], loop["step_ms"][0]) == (None, 20.0)


def test_a_step_has_its_wait_for_the_batch(tmp_path: Path) -> None:
    """As the median has it: 20 ms of work after 80 ms of waiting."""
    (loop,) = unpacked(page_of(trained(tmp_path / "r", steps=steps(10, input_ns=80 * MS))))[0]["steps"]
    assert (loop["step_ms"], loop["median_ns"]) == ([100.0] * 10, 100 * MS)


def test_windows_are_marked_in_their_own_loop(tmp_path: Path) -> None:
    """By the steps that began in them: the third and the fourth of the test steps, not the number in the run."""
    tested = [{**row, "loop": "test", "loop_id": 2} for row in steps(10, start_s=8.0)]
    kernels = window([{"op": "mm", "ms": 5}], begin_s=8.04, count=2)
    loops = unpacked(page_of(trained(tmp_path / "r", **{**kernels, "steps": [*steps(250), *tested]})))[0]["steps"]
    assert [(loop["loop"], loop["windows"]) for loop in loops] == [("train", []), ("test", [[2, 3]])]


def test_rows_of_several_steps_keep_the_numbers_of_steps(tmp_path: Path) -> None:
    """Each of them stands for ten."""
    rows = [{**row, "count": 10, "step": 10 * n} for n, row in enumerate(steps(3, dur_ms=200))]
    (loop,) = unpacked(page_of(trained(tmp_path / "r", steps=rows)))[0]["steps"]
    assert (loop["number"], loop["step_ms"]) == ([1, 11, 21], [20.0, 20.0, 20.0])
