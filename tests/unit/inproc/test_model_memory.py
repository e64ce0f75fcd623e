"""What a model and its optimiser hold, by shapes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc import model_memory


def variable(path: str, *shape: int, dtype: Any = "float32") -> Any:
    """A variable of Keras 3."""
    return SimpleNamespace(path=path, shape=shape, dtype=dtype)


KERNEL, BIAS = variable("net/dense/kernel", 3, 4), variable("net/dense/bias", 4)
MEAN = variable("net/norm/mean", 4)


def layer(name: str, *weights: Any, shape: tuple[Any, ...] | None = None, **more: Any) -> Any:
    """A layer, which gives one tensor."""
    output = SimpleNamespace(shape=shape) if shape else None
    return SimpleNamespace(name=name, weights=list(weights), output=output, compute_dtype="float32", **more)


def model(*slots: Any, **more: Any) -> Any:
    """A model of a dense layer and a normalisation, whose mean is not trained."""
    layers = [layer("dense", KERNEL, BIAS, shape=(None, 4)), layer("norm", MEAN, shape=(None, 4))]
    optimizer = SimpleNamespace(variables=list(slots))
    return SimpleNamespace(
        name="net",
        layers=layers,
        weights=[KERNEL, BIAS, MEAN],
        trainable_weights=[KERNEL, BIAS],
        optimizer=optimizer,
        **more,
    )


def test_each_variable_is_its_layers() -> None:
    """With its shape and type, and whether it is trained."""
    told = model_memory.of_keras(model())

    assert told["variables"] == [
        ["dense", "net/dense/kernel", "parameters", [3, 4], "float32", True, None],
        ["dense", "net/dense/bias", "parameters", [4], "float32", True, None],
        ["norm", "net/norm/mean", "parameters", [4], "float32", False, None],
    ]
    assert (told["name"], told["left_out"]) == ("net", 0)


def test_layers_tell_what_they_give() -> None:
    """None stands for the batch."""
    assert model_memory.of_keras(model())["outputs"] == [
        ["dense", [None, 4], "float32"],
        ["norm", [None, 4], "float32"],
    ]


def test_a_layer_within_a_layer_has_the_last_word() -> None:
    """A bidirectional one has no weights of its own; the layer in it has."""
    inner = layer("lstm", KERNEL, call=None)
    outer = layer("both", KERNEL, forward_layer=inner)
    net = SimpleNamespace(name="n", layers=[outer], weights=[KERNEL], trainable_weights=[KERNEL])

    assert model_memory.of_keras(net)["variables"][0][0] == "lstm"


def test_slots_are_found_by_their_names() -> None:
    """That of a counter belongs to no layer."""
    slots = (variable("sgd/iteration", dtype="int64"), variable("sgd/net_dense_kernel_momentum", 3, 4))
    told = model_memory.of_keras(model(*slots))["variables"][3:]

    assert [(one[0], one[2], one[3]) for one in told] == [(None, "optimizer", []), ("dense", "optimizer", [3, 4])]


def test_slots_without_a_name_are_found_by_their_order() -> None:
    """Keras 2 calls each of them a variable; there are as many as variables, for each moment again."""
    slots = [variable("Variable:0", 3, 4), variable("Variable:0", 4)] * 2
    told = model_memory.of_keras(model(*slots))["variables"][3:]

    assert [one[0] for one in told] == ["dense", "dense", "dense", "dense"]


def test_a_model_that_is_not_built_tells_nothing() -> None:
    """It has no shapes."""
    assert model_memory.of_keras(model(built=False)) is None
    assert model_memory.of_keras(SimpleNamespace()) is None


def test_of_too_many_variables_the_rest_is_counted() -> None:
    """Each that is told takes room in the stream."""
    many = [variable("v%d" % number, 1) for number in range(2005)]
    told = model_memory.of_keras(SimpleNamespace(weights=many, trainable_weights=[], layers=[]))

    assert (len(told["variables"]), told["left_out"]) == (2000, 5)


class Array:
    """An array of PyTorch."""

    def __init__(self, *shape: int, grad: Any = None) -> None:
        self.shape, self.grad, self.dtype, self.device = shape, grad, "torch.float32", "cpu"


def test_torch_has_gradients_and_slots_as_arrays() -> None:
    """By the names of the modules; what is no array in the state of an optimiser is left out."""
    weight = Array(3, 4, grad=Array(3, 4))
    optimizer = SimpleNamespace(
        param_groups=[{"params": [weight]}], state={weight: {"step": 1, "exp_avg": Array(3, 4)}}
    )

    assert model_memory.of_torch(optimizer, {id(weight): "net.dense.weight"})["variables"] == [
        ["net.dense", "net.dense.weight", "parameters", [3, 4], "float32", True, "cpu"],
        ["net.dense", "net.dense.weight", "gradients", [3, 4], "float32", False, "cpu"],
        ["net.dense", "net.dense.weight.exp_avg", "optimizer", [3, 4], "float32", False, "cpu"],
    ]


def test_an_optimiser_of_keras_knows_what_it_trains() -> None:
    """In a loop of the script's own its models are not at hand."""
    optimizer = SimpleNamespace(_trainable_variables=[KERNEL], variables=[variable("adam/net_dense_kernel_m", 3, 4)])
    told = model_memory.of_keras_optimizer(optimizer)["variables"]

    assert [(one[0], one[2]) for one in told] == [("net/dense", "parameters"), ("net/dense", "optimizer")]


def test_types_are_told_in_one_way() -> None:
    """As engines spell them."""
    spellings = ["<dtype: 'float32'>", "<class 'numpy.float32'>", "torch.float32", "float32_ref", "float32"]

    assert {model_memory._text(one) for one in spellings} == {"float32"}
