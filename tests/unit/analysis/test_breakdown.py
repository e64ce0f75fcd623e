"""The tree of a run: its leaves sum to the wall time, and steps are split as their window was."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import breakdown
from dlprof.schema.tree_paths import Tree, TreePath
from tests.unit import runs
from tests.unit.runs import MS, S

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


def test_what_counting_lines_took_is_not_the_scripts(tmp_path: Path) -> None:
    """Findings about the script's own Python speak of bare time."""
    probes = [{"name": "lines", "state": "on", "cost_ns": 300 * MS, "tax_ns": 300 * MS}]
    phases = runs.phases(script=4, dlprof=1, fit_steps=5)

    tree = breakdown.of_run(runs.trained(tmp_path / "r", phases=phases, probes=probes))

    assert tree is not None
    assert (tree.leaves[Tree.SCRIPT], tree.leaves[Tree.OWN]) == (3_700_000_000, 1_300_000_000)


def test_a_run_without_phases_has_no_tree(tmp_path: Path) -> None:
    """There is nothing to split."""
    assert breakdown.of_run(runs.make(tmp_path / "r")) is None


def test_a_run_without_steps_has_no_leaf_of_kernels(tmp_path: Path) -> None:
    """Nobody can ask for one by mistake."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", steps=[]))

    assert tree is not None
    assert (tree.steps, tree.unsplit) == (None, "no step of fit, evaluate or predict was seen")
    with pytest.raises(ValueError, match="without steps"):
        tree.kernels_leaf("matmul")


def test_a_place_holds_the_time_of_all_below_it(tmp_path: Path) -> None:
    """And a leaf its own."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", **runs.window(KERNELS)))

    assert tree is not None
    assert [tree.time(path) for path in (Tree.FIT, Tree.FIT_STEPS, Tree.IMPORT)] == [6 * S, 5 * S, 2 * S]
    assert tree.kernels_leaf("data movement") == "fit/steps/kernels/data_movement"


def test_net_time_is_without_dlprofs_own(tmp_path: Path) -> None:
    """Both of its leaves."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", phases=runs.phases(dlprof=3, fit_steps=5)))

    assert tree is not None and tree.net_ns == 7 * S


def test_a_phase_that_is_not_known_is_unattributed(tmp_path: Path) -> None:
    """A stored run may be damaged."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", phases=runs.phases(dreams=3, fit_steps=5)))

    assert tree is not None
    assert (sum(tree.leaves.values()), tree.unattributed_ns) == (5 * S, 5 * S)


def test_a_run_of_foreign_traces_has_its_kernels_only(tmp_path: Path) -> None:
    """All of its time is in no phase."""
    tree = breakdown.without_phases(runs.make(tmp_path / "r", **runs.window(KERNELS)))

    assert tree is not None
    assert (dict(tree.leaves), tree.unattributed_ns) == ({}, 10 * S)
    assert [(layer.op, layer.ns) for layer in tree.layers] == [("aten::mm", 80 * MS), ("aten::add", 20 * MS)]
