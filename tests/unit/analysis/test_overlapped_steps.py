"""Where the engine runs ahead of the host, kernels come first, whatever the host did beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import breakdown
from dlprof.schema.tree_paths import TreePath
from tests.unit import runs
from tests.unit.runs import MS, S

KERNELS = [
    {"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "aten::add", "category": "elementwise", "layer": "dense", "direction": "backward", "ms": 2},
]


def own_loop(dur_ms: int) -> dict[str, list[dict[str, Any]]]:
    """100 steps of 20 ms by the script itself, 20 ms apart; a kernel begins with each step and takes `dur_ms`."""
    rows = runs.steps(100, dur_ms=40.0)
    for row in rows:
        row["dur_ns"] = 20 * MS
    return {
        **runs.window([{**KERNELS[0], "ms": dur_ms}], dur_ms=40.0),
        "phases": runs.phases(fit_steps=2, script=4, teardown=4),
        "steps": rows,
        "spans": [runs.span("on_batch", 2, 2, name="train_on_batch", span_id=1)],
    }


def test_kernels_beside_the_scripts_own_loop_are_kernels(tmp_path: Path) -> None:
    """On MXNet each kernel goes on for 10 of the 20 ms for which the script makes the next batch: 0.99 of 4 s."""
    told = runs.manifest(keras={"backend": "mxnet", "version": "2.2.4"})
    tree = breakdown.of_run(runs.trained(tmp_path / "r", told, **own_loop(30)))

    assert tree is not None
    assert tree.leaves[TreePath("script")] == 4 * S - 990 * MS
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == 2 * S + 990 * MS
    assert sum(tree.leaves.values()) + tree.unattributed_ns == 10 * S


def test_kernels_beside_the_scripts_own_loop_are_counted_once_on_jax(tmp_path: Path) -> None:
    """Kernels of 20 of each 40 ms: 1 s within the steps, and 0.99 s beside the script."""
    tables = own_loop(30)
    told = runs.manifest(backend={**runs.manifest()["backend"], "name": "jax", "asynchronous_dispatch": True})
    tables.update(runs.window([{"op": "launch", "kind": "runtime", "ms": 10}, {**KERNELS[0], "ms": 20}], dur_ms=40.0))
    tree = breakdown.of_run(runs.trained(tmp_path / "r", told, **tables))

    assert tree is not None
    assert tree.beside_script_ns == 990 * MS
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == S + 990 * MS
    assert sum(tree.leaves.values()) + tree.unattributed_ns == 10 * S


@pytest.mark.parametrize(
    ("backend", "window_ms", "kernel_ms", "plain_ms"),
    [("jax", 40, 8, 8.0), ("mxnet", 40, 8, 4.0), ("jax", 16, 12, 15.0), ("jax", 40, 30, 15.0), ("mxnet", 16, 4, 4.0)],
)
def test_kernels_that_fill_steps_are_a_share_of_them(
    tmp_path: Path, backend: str, window_ms: int, kernel_ms: int, plain_ms: float
) -> None:
    """Plain steps take 20 ms. Where kernels do not fill the window's, JAX's tracer costs the host time, MXNet's kernels."""
    told = runs.manifest(
        keras={"backend": backend, "version": "3.15.0"},
        backend={**runs.manifest()["backend"], "name": backend, "asynchronous_dispatch": backend == "jax"},
    )
    after_s = 3 + window_ms / 100
    steps = [
        *runs.steps(50),
        *runs.steps(10, start_s=3, dur_ms=window_ms),
        *runs.steps(200, start_s=after_s),
    ]
    tables = {**runs.window([{**KERNELS[0], "ms": kernel_ms}], dur_ms=window_ms), "steps": steps}
    tree = breakdown.of_run(runs.trained(tmp_path / "r", told, **tables))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == pytest.approx(260 * plain_ms * MS, rel=0.001)


def test_kernels_do_not_grow_with_callbacks(tmp_path: Path) -> None:
    """On JAX plain steps take 20 ms, 4 of them in callbacks, the window's 16: kernels of 12 ms are the same in both."""
    told = runs.manifest(backend={**runs.manifest()["backend"], "name": "jax", "asynchronous_dispatch": True})
    plain = {"callbacks_ns": 4 * MS}
    steps = [
        *runs.steps(50, **plain),
        *runs.steps(10, start_s=3, dur_ms=16),
        *runs.steps(200, start_s=3.16, **plain),
    ]
    tables = {**runs.window([{**KERNELS[0], "ms": 12}], dur_ms=16), "steps": steps}
    tree = breakdown.of_run(runs.trained(tmp_path / "r", told, **tables))

    assert tree is not None
    assert tree.leaves[TreePath("fit/steps/kernels/matmul")] == pytest.approx(260 * 12 * MS, rel=0.02)


def test_a_script_whose_engine_is_done_when_its_step_is_has_its_time_for_itself(tmp_path: Path) -> None:
    """No kernel runs between the steps."""
    told = runs.manifest(keras={"backend": "mxnet", "version": "2.2.4"})
    tree = breakdown.of_run(runs.trained(tmp_path / "r", told, **own_loop(20)))

    assert tree is not None
    assert tree.leaves[TreePath("script")] == 4 * S
