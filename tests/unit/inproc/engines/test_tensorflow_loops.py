"""Which graphs of TensorFlow are steps of a training."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import tensorflow_loops


def graph(*operations: tuple[str, str]) -> Any:
    """A graph with operations of these names and types."""
    found = [SimpleNamespace(name=name, type=kind) for name, kind in operations]
    return SimpleNamespace(get_operations=lambda: found)


FORWARD = ("MatMul", "MatMul")
BACK = ("gradient_tape/MatMul", "MatMul")
CHANGES = ("AssignSubVariableOp", "AssignSubVariableOp")


@pytest.mark.parametrize(
    ("operations", "is_step"),
    [
        ((FORWARD, BACK, CHANGES), True),
        ((FORWARD, ("step/gradient_tape/MatMul", "MatMul"), ("ResourceScatterSub", "ResourceScatterSub")), True),
        ((FORWARD, BACK), False),
        ((FORWARD, CHANGES), False),
        ((), False),
    ],
)
def test_a_graph_that_takes_gradients_and_changes_variables_is_a_step(
    operations: tuple[tuple[str, str], ...], is_step: bool
) -> None:
    """One that only gives gradients, or only counts, is none."""
    assert tensorflow_loops.updates_weights(graph(*operations)) is is_step
