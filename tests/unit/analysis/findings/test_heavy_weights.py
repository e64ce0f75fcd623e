"""The largest array of weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import heavy_weights
from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Direction, StepPart
from tests.unit import runs
from tests.unit.analysis.findings.cases import quiet
from tests.unit.runs import S

KERNELS = [
    {"op": "gather", "category": "embedding", "layer": "words", "direction": "forward", "ms": 1},
    {"op": "scatter", "category": "embedding", "layer": "words", "direction": "backward", "ms": 4},
    {"op": "adam", "category": "optimiser", "layer": "adam", "direction": "update", "ms": 10},
    {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 5},
]
"""A step of 20 ms, half of which updates weights."""


def parameter(layer: str | None, shape: str, **changes: Any) -> dict[str, Any]:
    """A row of `memory_owners`."""
    return {
        "model": 0,
        "layer": layer,
        "name": "kernel",
        "kind": "parameters",
        "shape": shape,
        "how": "exact",
        **changes,
    }


def case(path: Path, *owners: dict[str, Any]) -> Case:
    """A run of 6 s of such steps with these arrays."""
    return Case(runs.trained(path / "r", **{**quiet(), **runs.window(KERNELS), "memory_owners": list(owners)}))


def test_the_largest_array_is_told_with_its_share_of_its_model(tmp_path: Path) -> None:
    """900 of 1000 numbers; slots of the optimiser and other models do not count."""
    found = heavy_weights.largest(
        case(
            tmp_path, parameter("words", "90x10"), parameter("dense", "10x10"),
            parameter("words", "90x10", kind="optimizer"), parameter("other", "5", model=1),
        )
    )  # fmt: skip

    assert found is not None
    assert (found.layer, found.shape, found.count, found.share) == ("words", (90, 10), 900, 0.9)
    assert found.text == "words (90 x 10)"


def test_memory_is_that_of_the_model_s_own_array(tmp_path: Path) -> None:
    """Not of another model's, whose layer is called the same."""
    small = parameter("words", "9x10", model=1, bytes=360)
    found = heavy_weights.largest(case(tmp_path, parameter("words", "90x10", bytes=3600), small))

    assert found is not None
    assert found.bytes == 3600


def test_arrays_of_unknown_length_are_passed_over(tmp_path: Path) -> None:
    """Nothing is left then."""
    assert heavy_weights.largest(case(tmp_path, parameter("words", "?x10"))) is None


def test_updates_and_kernels_of_a_layer_are_told_by_leaf(tmp_path: Path) -> None:
    """A half of 6 s, and of the layer a fifth, without what is asked of other directions."""
    made = case(tmp_path, parameter("words", "90x10"))
    kernels = Tree.FIT_STEPS / StepPart.KERNELS

    assert heavy_weights.updates(made) == {kernels / "optimiser": pytest.approx(3 * S)}
    assert heavy_weights.of_layer(made, "words", Direction.BACKWARD) == {kernels / "embedding": pytest.approx(1.2 * S)}
    assert heavy_weights.of_layer(made, None, Direction.BACKWARD) == {}


def test_times_by_leaf_are_added_and_scaled() -> None:
    """Leaf by leaf."""
    one, other = {Tree.SCRIPT: 3}, {Tree.SCRIPT: 4, Tree.DATA: 5}

    assert heavy_weights.added(one, other) == {Tree.SCRIPT: 7, Tree.DATA: 5}
    assert heavy_weights.scaled(other, 0.5) == {Tree.SCRIPT: 2, Tree.DATA: 2}
