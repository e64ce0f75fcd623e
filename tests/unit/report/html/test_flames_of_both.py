"""Two runs' flame graphs as one tree."""

from __future__ import annotations

from pathlib import Path

from dlprof.report.html import flames_of_both
from dlprof.store.run import Run
from tests.unit.runs import S, trained


def sampled(path: Path, *stacks: tuple[float, list[str]], line: int = 7) -> Run:
    """A run whose main thread stood in these calls of keras/a.py (outermost first) for so many seconds from 3 s on."""
    frames = [
        {"stack_id": n, "depth": depth, "function": function, "file": "keras/a.py", "line": line}
        for n, (_, functions) in enumerate(stacks)
        for depth, function in enumerate(functions)
    ]
    rows, at = [], 3.0
    for n, (seconds, _) in enumerate(stacks):
        row = {"thread_id": 1, "thread": "MainThread", "start_ns": int(at * S), "dur_ns": int(seconds * S)}
        rows.append({**row, "stack_id": n})
        at += seconds
    return trained(path, frames=frames, stacks=rows)


def told(a: Run, b: Run) -> list[tuple[int, int, int, str]]:
    """Depth, seconds of A and of B, function of each frame of the only phase."""
    (flame,) = flames_of_both.of_runs(a, b)
    return [(node[0], node[1] // S, node[2] // S, node[3]) for node in flame["nodes"]]


def test_frames_of_both_sides_are_one_tree(tmp_path: Path) -> None:
    """Each has its time on both sides; what one side has not is 0 there."""
    a = sampled(tmp_path / "a", (2, ["fit", "conv"]), (1, ["fit", "pool"]))
    b = sampled(tmp_path / "b", (1, ["fit", "conv"]), (1, ["fit", "norm"]))

    assert told(a, b) == [(0, 3, 2, "fit"), (1, 2, 1, "conv"), (1, 0, 1, "norm"), (1, 1, 0, "pool")]


def test_a_function_whose_lines_moved_is_the_same_function(tmp_path: Path) -> None:
    """Between two versions of a script lines move."""
    a = sampled(tmp_path / "a", (2, ["fit"]), line=7)
    b = sampled(tmp_path / "b", (1, ["fit"]), line=9)

    assert told(a, b) == [(0, 2, 1, "fit")]


def test_the_phase_has_its_time_on_both_sides(tmp_path: Path) -> None:
    """As sampled."""
    a, b = sampled(tmp_path / "a", (2, ["fit"])), sampled(tmp_path / "b", (1, ["fit"]))

    (flame,) = flames_of_both.of_runs(a, b)

    assert (flame["phase"], flame["thread"], flame["a_ns"], flame["b_ns"]) == ("fit.steps", "main", 2 * S, S)


def test_without_stacks_on_a_side_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """All would be red."""
    assert flames_of_both.of_runs(sampled(tmp_path / "a", (2, ["fit"])), trained(tmp_path / "b")) == []
