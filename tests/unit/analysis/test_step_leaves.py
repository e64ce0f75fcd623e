"""Steps are leaves of the tree, split as their kernel window was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import breakdown
from dlprof.schema.tree_paths import TreePath
from tests.unit import runs
from tests.unit.analysis.findings.cases import on
from tests.unit.runs import MS, S

KERNELS = [
    {"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "aten::add", "category": "elementwise", "layer": "dense", "direction": "backward", "ms": 2},
]


def test_steps_are_split_by_their_window(tmp_path: Path) -> None:
    """Half of each traced step is kernels, of which four fifths are products; the rest is dispatch."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", **runs.window(KERNELS)))

    assert tree is not None
    assert tree.steps == "fit/steps"
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == 2 * S
    assert tree.leaves[TreePath("fit/steps/kernels/elementwise")] == S // 2
    assert tree.leaves[TreePath("fit/steps/dispatch")] == 5 * S // 2
    assert [(one.layer, one.direction, one.ns) for one in tree.layers] == [
        ("dense", "forward", 2 * S),
        ("dense", "backward", S // 2),
    ]


def test_without_a_window_the_steps_are_one_leaf_with_the_reason(tmp_path: Path) -> None:
    """Nothing is guessed."""
    probes = [{"name": "kernels", "state": "off", "reason": "not asked for", "cost_ns": None, "cost_source": None}]
    tree = breakdown.of_run(runs.trained(tmp_path / "r", probes=probes))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps")] == 5 * S
    assert tree.unsplit == "not asked for"


def test_time_between_steps_is_an_edge(tmp_path: Path) -> None:
    """200 steps of 20 ms are 4 s of the phase's 5."""
    tree = breakdown.of_run(runs.trained(tmp_path / "r", **{**runs.window(KERNELS), "steps": runs.steps(200)}))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps/edges")] == S


def test_sums_over_the_whole_run_are_shared_by_its_executing_phases(tmp_path: Path) -> None:
    """Theano's 4 s of kernels over 5 s of steps and 3 s of validation: five eighths of them are of the steps."""
    tables: dict[str, Any] = {
        "kernel_ops": [{"op_id": 0, "kind": "operator", "name": "Dot22", "op": "Dot22", "category": "matmul"}],
        "kernel_totals": [{"op_id": 0, "device": -1, "count": 9, "total_ns": 4 * S}],
        "phases": runs.phases(fit_steps=5, fit_validation=3),
    }
    tree = breakdown.of_run(runs.trained(tmp_path / "r", **tables))

    assert tree is not None and tree.unsplit is None
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == 5 * S // 2
    assert tree.leaves[TreePath("fit/steps/host_python")] == 5 * S // 2
    assert tree.leaves[TreePath("fit/validation")] == 3 * S


def test_waits_and_callbacks_of_the_window_are_in_other_phases(tmp_path: Path) -> None:
    """Of its steps of 20 ms, 6 are callbacks; 10 of the 14 that are left are kernels."""
    steps = runs.steps(250, callbacks_ns=6 * MS)
    tables = {**runs.window([{**KERNELS[0], "ms": 10}]), "steps": steps, "phases": runs.phases(fit_steps=3.5)}

    tree = breakdown.of_run(runs.trained(tmp_path / "r", **tables))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == 5 * S // 2
    assert tree.leaves[TreePath("fit/steps/dispatch")] == S


@pytest.mark.parametrize(("inside", "part"), [(False, "host_python"), (True, "input")])
def test_a_pause_in_every_tenth_step_makes_no_kernel_longer(tmp_path: Path, inside: bool, part: str) -> None:
    """225 steps of 20 ms, of which half are products, and 25 of 220 ms, none of them traced: 5 s of pauses.

    Steps that fetch their batches themselves wait for these.
    """
    steps = runs.steps(250)
    for row in steps[200:225]:
        row["dur_ns"] += 200 * MS
    tables = {**runs.window([{**KERNELS[0], "ms": 10}]), "steps": steps, "phases": runs.phases(fit_steps=10)}
    tree = breakdown.of_run(runs.trained(tmp_path / "r", on("tensorflow", input_inside_step=inside), **tables))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == 5 * S // 2
    assert tree.leaves[TreePath(f"fit/steps/{part}")] == 5 * S
