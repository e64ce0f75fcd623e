"""Who allocated memory."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import heap
from dlprof.analysis.heap import Heap
from tests.unit.analysis.memory_runs import MB, MS, allocated, over_training
from tests.unit.runs import trained

LEAK = [n * MB for n in range(50)]


def of_lines(folder: Path, *lines: tuple[int | None, list[int]]) -> Heap:
    """Of a training of 500 steps from 2 s to 7 s."""
    found = heap.of_run(over_training([MB] * 10, folder / "r", **allocated(*lines)))
    assert found is not None
    return found


def test_what_a_line_gives_back_after_each_step_has_not_grown(tmp_path: Path) -> None:
    """The least that it holds counts, at the end of the training as behind its first quarter."""
    found = of_lines(tmp_path, (7, [30 * MB if n % 2 else 5 * MB for n in range(50)]), (8, LEAK))

    assert {one.line: one.grown_bytes for one in found.lines} == {7: 0, 8: 33 * MB}
    assert [one.line for one in found.growing] == [8]
    assert found.grown_bytes == 33 * MB


def test_what_grows_while_a_training_warms_up_does_not_count(tmp_path: Path) -> None:
    """Caches fill in the first quarter of the steps."""
    found = of_lines(tmp_path, (7, [min(n, 10) * MB for n in range(50)]))

    assert found.lines[0].grown_bytes == 0


def test_places_below_one_line_are_one(tmp_path: Path) -> None:
    """Where most of it was allocated is named."""
    tables = allocated((7, [0] * 50), (7, LEAK))
    tables["heap"][1] |= {"at_line": 12, "peak_bytes": 90 * MB}
    found = heap.of_run(over_training([MB] * 10, tmp_path / "r", **tables))

    assert found is not None
    (line,) = found.lines
    assert (line.place, line.peak_bytes, line.peak_count, line.grown_bytes) == (("train.py", 7), 100 * MB, 6, 33 * MB)
    assert line.at == heap.Frame("numpy/core.py", 12, "zeros")


def test_without_a_training_growth_is_not_known(tmp_path: Path) -> None:
    """What was held at the most is."""
    tables = allocated((7, LEAK))
    found = heap.of_run(trained(tmp_path / "r", **{**tables, "steps": []}))

    assert found is not None
    assert (found.peak_bytes, found.grown_bytes, found.lines[0].grown_bytes) == (10 * MB, None, None)


def test_a_training_with_few_moments_tells_no_growth(tmp_path: Path) -> None:
    """Ten moments tell a leak from what a step takes no more."""
    tables = allocated((7, LEAK))
    tables["heap_held"] = [row for row in tables["heap_held"] if row["time_ns"] % (500 * MS) == 0]
    found = heap.of_run(over_training([MB] * 10, tmp_path / "r", **tables))

    assert found is not None
    assert found.grown_bytes is None


def test_of_many_lines_those_that_held_most_and_those_that_grew_most_are_chosen(tmp_path: Path) -> None:
    """Half and half; where few grew, more of the others."""
    tables = allocated(*((line, LEAK if line in (8, 9) else [0] * 50) for line in range(1, 11)))
    for row in tables["heap"]:
        row["peak_bytes"] = (20 - row["line"]) * MB
    found = heap.of_run(over_training([MB] * 10, tmp_path / "r", **tables))

    assert found is not None
    assert [one.line for one in heap.most_telling(found.lines, 4)] == [1, 2, 8, 9]
    assert [one.line for one in heap.most_telling(found.lines, 7)] == [1, 2, 3, 4, 5, 8, 9]
    assert heap.most_telling(found.lines, 99) == list(found.lines)


def test_a_run_without_a_recording_has_none(tmp_path: Path) -> None:
    """As nearly all."""
    assert heap.of_run(trained(tmp_path / "r")) is None
