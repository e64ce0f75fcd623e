"""Steps of each loop for a chart."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from dlprof.report.html import step_chart
from dlprof.store.run import Run
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


def test_of_a_long_loop_the_extremes_of_each_stretch_are_drawn(tmp_path: Path) -> None:
    """Of 30 rows in stretches of 8: the shortest and the longest of each, and the page says so."""
    rows = steps(30)
    for n, row in enumerate(rows):
        row["dur_ns"] = (n + 1) * MS
    rows[12]["dur_ns"], rows[20]["compiled"] = 90 * MS, True
    run = trained(tmp_path / "r", steps=rows)
    with patch.object(step_chart, "_ALL", 10), patch.object(step_chart, "_STRETCHES", 4):
        page = page_of(run)
    (loop,) = unpacked(page)[0]["steps"]
    assert loop["number"] == [1, 8, 9, 13, 17, 21, 24, 25, 30]
    assert loop["step_ms"] == [1.0, 8.0, 9.0, 90.0, 17.0, 21.0, 24.0, 25.0, 30.0]
    assert [loop["number"][n] for n in loop["compiled"]] == [21]
    assert "9 of 30 rows are drawn: of each 8 that follow each other" in page


def test_pieces_of_a_long_loop_give_what_the_whole_gives(tmp_path: Path) -> None:
    """A stretch may be cut; epochs and windows keep their first and last rows."""
    rows = [{**row, "epoch": n // 11, "dur_ns": (n * 7 % 13 + 1) * MS} for n, row in enumerate(steps(40))]
    run = trained(tmp_path / "r", **{**window([{"op": "mm", "ms": 5}], begin_s=2.2, count=5), "steps": rows})
    with patch.object(step_chart, "_ALL", 10), patch.object(step_chart, "_STRETCHES", 3):
        whole = step_chart.of_run(run, [])
        tables = run.table("steps")
        cut = [tables.slice(low, 7) for low in range(0, 40, 7)]
        with patch.object(Run, "pieces", lambda run, name, columns: (one.select(columns) for one in cut)):
            assert step_chart.of_run(run, []) == whole
    (loop,) = whole
    assert [loop["number"][n] for n in loop["epoch_starts"]] == [1, 12, 23, 34]
    assert [[loop["number"][n] for n in pair] for pair in loop["windows"]] == [[11, 15]]
