"""What layers of Keras are given and give, by the graph of a model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc import layer_shapes


class InputLayer:
    """Data comes in through it."""

    name = "input"


class Layer:
    """A layer with weights."""

    def __init__(self, name: str, *weights: tuple[str, list[int]]) -> None:
        self.name = name
        self.dtype = "float32"
        self.weights = [SimpleNamespace(path=f"net/{name}/{part}", shape=shape) for part, shape in weights]
        self.trainable_weights = list(self.weights)


class Dense(Layer):
    """One of Keras' classes."""


class Flatten(Layer):
    """One without weights."""


class TimeDistributed:
    """A layer around another one."""

    def __init__(self, layer: Layer) -> None:
        self.name, self.layer, self.dtype = "time", layer, "float32"
        self.trainable_weights = layer.weights


def tensor(maker: Any, *shape: int | None) -> SimpleNamespace:
    """What a layer gave."""
    return SimpleNamespace(shape=shape, _keras_history=(maker, 0, 0))


def node(owner: Any, given: list[SimpleNamespace], output: SimpleNamespace) -> SimpleNamespace:
    """A call of a layer."""
    return SimpleNamespace(operation=owner, input_tensors=given, outputs=[output])


def model(*nodes: SimpleNamespace) -> SimpleNamespace:
    """A model of these calls, one after the other."""
    return SimpleNamespace(_nodes_by_depth={-number: [one] for number, one in enumerate(nodes)}, layers=[])


START = InputLayer()
DATA = tensor(START, None, 4, 2)
FLAT, FIRST, LAST = (
    Flatten("flat"),
    Dense("first", ("kernel", [8, 3]), ("bias", [3])),
    Dense("last", ("kernel", [3, 2])),
)


def test_layers_are_told_in_order_with_shapes_and_weights() -> None:
    """A gradient for what is given is asked of the last one alone: the others have data, or what was made of it."""
    flat, first = tensor(FLAT, None, 8), tensor(FIRST, None, 3)
    told = layer_shapes.of(
        model(
            node(START, [], DATA), node(FLAT, [DATA], flat), node(FIRST, [flat], first),
            node(LAST, [first], tensor(LAST, None, 2)),
        )
    )  # fmt: skip

    assert told == [
        ["flat", "Flatten", [[None, 4, 2]], [None, 8], "float32", 1, False, True, []],
        ["first", "Dense", [[None, 8]], [None, 3], "float32", 1, True, True, [["kernel", [8, 3]], ["bias", [3]]]],
        ["last", "Dense", [[None, 3]], [None, 2], "float32", 1, True, False, [["kernel", [3, 2]]]],
    ]


def test_calls_of_one_layer_are_counted() -> None:
    """Two inputs through the same weights."""
    flat = tensor(FLAT, None, 8)
    one = node(FIRST, [flat], tensor(FIRST, None, 3))

    assert [row[5] for row in layer_shapes.of(model(one, one))] == [2]


def test_a_layer_in_a_time_distributed_one_has_its_shapes() -> None:
    """It is called for each step of the sequence."""
    around = TimeDistributed(LAST)
    told = layer_shapes.of(model(node(around, [tensor(START, None, 5, 3)], tensor(around, None, 5, 2))))

    assert told[0][:4] == ["last", "Dense", [[None, 5, 3]], [None, 5, 2]]


def test_models_in_models_are_followed() -> None:
    """Their layers are those that work."""
    inner = model(node(LAST, [tensor(START, None, 3)], tensor(LAST, None, 2)))
    told = layer_shapes.of(model(node(inner, [tensor(START, None, 3)], tensor(inner, None, 2))))

    assert [row[0] for row in told] == ["last"]


def test_a_model_without_a_graph_tells_nothing() -> None:
    """A class of the user's own."""
    assert layer_shapes.of(SimpleNamespace()) == []


def test_a_shape_that_nobody_knows_leaves_its_layer_out() -> None:
    """The others are told."""
    unknown = SimpleNamespace(shape=None, _keras_history=(START, 0, 0))

    assert layer_shapes.of(model(node(LAST, [unknown], tensor(LAST, None, 2)))) == []
