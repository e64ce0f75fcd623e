"""Layers of two models beside each other."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S

KERNELS = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 10}]


def compared(a: Run, b: Run) -> compare.Comparison:
    """Two runs as a comparison."""
    return compare.compare(Side("a", (a,)), Side("b", (b,)))


def test_layers_with_names_of_keras_own_are_joined_by_their_place(tmp_path: Path) -> None:
    """Keras 2 counts from dense_1, Keras 3 begins with dense."""
    model = {"layers": [{"name": "dense_1", "class": "Dense"}], "models": [], "optimizer": None}
    other = [{**KERNELS[0], "layer": "dense_1", "ms": 5}]
    a = runs.trained(tmp_path / "a", **runs.window(KERNELS))
    b = runs.trained(tmp_path / "b", spans=[runs.fit_span(model=model)], **runs.window(other))

    (layer,) = compared(a, b).layers

    assert (layer.layer, layer.a_ns, layer.b_ns) == ("dense", 5 * S // 2, 5 * S // 4)
