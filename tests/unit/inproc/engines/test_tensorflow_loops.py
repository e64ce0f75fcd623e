"""Which graphs of TensorFlow are steps of a training."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import tensorflow_loops
from dlprof_probes.inproc.engines.tensorflow import TensorFlow
from dlprof_probes.inproc.probe import Probe


def graph(*operations: tuple[str, str], **more: Any) -> Any:
    """A graph with operations of these names and types."""
    found = [SimpleNamespace(name=name, type=kind) for name, kind in operations]
    return SimpleNamespace(get_operations=lambda: found, **more)


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


class Function:
    """A function that is traced when it is called: its graph is a step, or only counts."""

    def __init__(self, *operations: tuple[str, str]) -> None:
        self.operations = operations
        self.made: Any = None

    def __call__(self) -> None:
        """As `tf.function`."""
        weights = [SimpleNamespace(shape=(512, 4), dtype=SimpleNamespace(name="float64"))]
        self.made.traced(graph(*self.operations, trainable_variables=weights))


def test_a_function_that_holds_its_step_tells_what_it_changes(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and their type; not known before: where no optimiser is called, it stands for one."""
    engine = TensorFlow(probe)
    engine._graphs = tensorflow_loops.Graphs(engine, None)
    monkeypatch.setattr(Function, "__call__", Function.__call__)  # hooks are taken out with it
    engine._graphs.watch(Function)
    step, counter = Function(FORWARD, BACK, CHANGES), Function(FORWARD, CHANGES)
    for one in (step, counter):
        one.made = engine._graphs
        one()

    assert engine.trained_weights(step) == {"count": 2048, "dtype": "float64"}
    assert engine.trained_weights(counter) is None


class Layer:
    """Stands for a layer of Keras."""

    def __call__(self, **_how: Any) -> None:
        """Of a batch."""


def test_a_model_that_is_called_without_training_is_evaluated_and_so_is_a_function_that_calls_one(
    probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the call itself, and by each call of the function, also those that call no layer any more."""
    asked: list[int] = []
    monkeypatch.setattr(probe.own_loops, "asks_only", lambda: asked.append(1))
    graphs = tensorflow_loops.Graphs(TensorFlow(probe), None)
    tensorflow_loops.watch_keras(probe, graphs, Layer)
    function = lambda: None  # noqa: E731

    Layer()(training=True)
    Layer()(training=False)
    eager = len(asked)
    token = graphs._enter((function,))
    Layer()(training=False)
    graphs._leave(token, (function,))
    graphs._leave(graphs._enter((function,)), (function,))

    assert (eager, len(asked)) == (1, 3)
