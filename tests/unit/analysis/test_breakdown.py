"""The tree of a run: its leaves sum to the wall time, and steps are split as their window was."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import breakdown
from dlprof.schema.vocabulary import TreePath
from tests.unit import runs
from tests.unit.runs import S

KERNELS = [
    {"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "aten::add", "category": "elementwise", "layer": "dense", "direction": "backward", "ms": 2},
]


def test_leaves_and_the_unattributed_sum_to_the_wall_time(tmp_path: Path) -> None:
    """What is in no phase has a row of its own."""
    run = runs.trained(tmp_path / "r", phases=runs.phases(startup=1, fit_steps=5, fit_callbacks=1))

    tree = breakdown.of_run(run)

    assert tree is not None
    assert tree.wall_ns == 10 * S
    assert tree.unattributed_ns == 3 * S
    assert sum(tree.leaves.values()) + tree.unattributed_ns == 10 * S


def test_what_a_window_made_its_steps_longer_is_dlprofs(tmp_path: Path) -> None:
    """Ten traced steps of 50 ms beside plain ones of 20 ms: 300 ms are not the script's."""
    slow = runs.steps(10, start_s=3.0, dur_ms=50.0)
    plain = runs.steps(225, start_s=3.5)
    tables = {**runs.window(KERNELS, dur_ms=50.0), "steps": slow + plain}

    tree = breakdown.of_run(runs.trained(tmp_path / "r", **tables))

    assert tree is not None
    assert tree.leaves[TreePath("dlprof/tracing")] == 300_000_000
    assert sum(tree.leaves.values()) + tree.unattributed_ns == 10 * S


def test_a_run_without_phases_has_no_tree(tmp_path: Path) -> None:
    """There is nothing to split."""
    assert breakdown.of_run(runs.make(tmp_path / "r")) is None
