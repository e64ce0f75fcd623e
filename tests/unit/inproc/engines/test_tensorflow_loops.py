"""Which graphs of TensorFlow are steps of a training."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.engines import tensorflow_loops
from dlprof_probes.inproc.engines.tensorflow import TensorFlow
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


def graph(*operations: tuple[str, str], **more: Any) -> Any:
    """A graph with operations of these names and types."""
    found = [SimpleNamespace(name=name, type=kind) for name, kind in operations]
    return SimpleNamespace(get_operations=lambda: found, **more)


class Variable:
    """A variable, that can be held weakly."""

    def __init__(self) -> None:
        self.shape, self.dtype = (512, 4), SimpleNamespace(name="float64")


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
        shape = {"inputs": (), "outputs": (), "captures": ()}
        self.made.traced(graph(*self.operations, trainable_variables=[Variable()], **shape))


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


@pytest.mark.parametrize(("is_empty", "in_graph", "told"), [(True, False, 1), (False, False, 0), (True, True, 0)])
def test_layers_that_are_called_with_a_growing_input_are_told_where_they_compute_at_once(
    is_empty: bool, in_graph: bool, told: int, probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not while a tape records, nor in a function that is traced for each length."""

    class Grown:
        """A layer."""

        def __call__(self, _words: object) -> None:
            """It computes nothing."""

    tapes = SimpleNamespace(TFE_Py_TapeSetIsEmpty=lambda: is_empty)
    monkeypatch.setitem(sys.modules, "tensorflow.python._pywrap_tfe", tapes)
    tensorflow: Any = SimpleNamespace(inside_function=lambda: in_graph)
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    tensorflow_loops.watch_keras(probe, tensorflow_loops.Graphs(TensorFlow(probe), None), Grown)
    layer = Grown()
    for length in range(1, 31):
        layer(np.zeros((1, length)))
    probe.growing.finish()

    assert [kind for kind, _ in out.names()].count("growing_input") == told


OF_ARRAYS = {"inputs": (1, 1, 1), "outputs": (1,), "captures": (1, 1)}


def is_asking(probe: Probe, monkeypatch: pytest.MonkeyPatch, *made: Any) -> bool:
    """Whether a call of the last of these functions, each with its graph, asks a model that is trained."""
    asked: list[int] = []
    monkeypatch.setattr(probe.own_loops, "asks_only", lambda: asked.append(1))
    graphs = tensorflow_loops.Graphs(TensorFlow(probe), None)
    functions = [lambda: None for _ in made]
    for function, one in zip(functions, made, strict=True):
        token = graphs._enter((function,))
        graphs.traced(one)
        graphs._leave(token, (function,))
    asked.clear()

    graphs._leave(graphs._enter((functions[-1],)), (functions[-1],))

    return bool(asked)


@pytest.mark.parametrize(
    ("shape", "asks"),
    [(OF_ARRAYS, True), ({**OF_ARRAYS, "captures": (1, 1, 1)}, False), ({**OF_ARRAYS, "outputs": ()}, False)],
)
def test_a_function_of_arrays_that_reads_what_is_trained_asks_it(
    shape: Any, asks: bool, probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is given no arrays, or gives none, keeps an average of the weights."""
    weight = Variable()
    step = graph(FORWARD, BACK, CHANGES, trainable_variables=[weight])

    assert is_asking(probe, monkeypatch, step, graph(FORWARD, trainable_variables=[weight], **shape)) == asks


def test_what_nobody_trains_may_be_a_teacher(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for each batch of the training."""
    step = graph(FORWARD, BACK, CHANGES, trainable_variables=[Variable()])

    assert not is_asking(probe, monkeypatch, step, graph(FORWARD, trainable_variables=[Variable()], **OF_ARRAYS))


def test_a_function_that_was_made_before_the_step_asks_what_is_trained(
    probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An evaluation in front of the training, and the same one behind a step."""
    weight = Variable()
    function = graph(FORWARD, trainable_variables=[weight], **OF_ARRAYS)
    step = graph(FORWARD, BACK, CHANGES, trainable_variables=[weight])
    graphs = tensorflow_loops.Graphs(TensorFlow(probe), None)
    asked: list[int] = []
    monkeypatch.setattr(probe.own_loops, "asks_only", lambda: asked.append(1))
    evaluate, train = (lambda: None), (lambda: None)
    told = []
    for name, made in ((evaluate, function), (train, step), (evaluate, None)):
        token = graphs._enter((name,))
        if made is not None:
            graphs.traced(made)
        graphs._leave(token, (name,))
        told.append(len(asked))

    assert told == [0, 0, 1]
