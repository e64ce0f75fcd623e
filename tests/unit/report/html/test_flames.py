"""Flame graphs."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import samples
from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.report.html import flames
from tests.unit.runs import S, trained


def test_a_flame_graph_has_the_outermost_frame_first(tmp_path: Path) -> None:
    """Widths are times; what lies inside a frame stands one below it."""
    frames = [{"stack_id": 1, "depth": d, "function": f, "file": "train.py", "line": d + 1} for d, f in enumerate("ab")]
    frames.append({"stack_id": 2, "depth": 0, "function": "a", "file": "train.py", "line": 1})
    stacks = [
        {"thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, "dur_ns": 2 * S, "stack_id": 1},
        {"thread_id": 1, "thread": "MainThread", "start_ns": 5 * S, "dur_ns": S, "stack_id": 2},
    ]
    run = trained(tmp_path / "r", frames=frames, stacks=stacks)
    (flame,) = flames.of_run(run, samples.of_run(run, PhaseLookup(run.table("phase_intervals"))))
    assert (flame["phase"], flame["thread"], flame["ns"]) == ("fit.steps", "main", 3 * S)
    assert flame["nodes"] == [[0, 0, 3 * S, "a", "train.py", 1, 1], [1, 0, 2 * S, "b", "train.py", 2, 1]]


def test_packages_that_stand_together_have_colours_of_their_own() -> None:
    """Also jax and jaxlib, keras and tensorflow; the user's own files have none."""
    nodes = [[0, 0, 9, "f", f"{name}/a.py", 1, 0] for name in ("keras", "tensorflow", "jax", "jaxlib", "mxnet")]
    nodes.append([0, 0, 9, "f", "train.py", 1, 1])
    found = flames.package_colours([{"nodes": nodes}])
    assert list(found) == ["jax", "jaxlib", "keras", "mxnet", "tensorflow"]
    assert len(set(found.values())) == 5
