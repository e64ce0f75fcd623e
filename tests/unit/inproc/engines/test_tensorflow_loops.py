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
    ("operations", "takes", "changes"),
    [
        ((FORWARD, BACK, CHANGES), True, True),
        ((FORWARD, ("step/gradient_tape/MatMul", "MatMul"), ("ResourceScatterSub", "ResourceScatterSub")), True, True),
        ((FORWARD, BACK), True, False),
        ((FORWARD, CHANGES), False, True),
        ((), False, False),
    ],
)
def test_a_graph_tells_whether_it_takes_gradients_and_changes_variables(
    operations: tuple[tuple[str, str], ...], takes: bool, changes: bool
) -> None:
    """Both: a step. One that only gives gradients, or only counts, is none."""
    made = graph(*operations)

    assert (tensorflow_loops.takes_gradients(made), tensorflow_loops.changes_variables(made)) == (takes, changes)
