"""How much a layer has to do: floating-point operations of one call, from the shapes of its weights, input and output.

They are the same on every engine, whatever kernels it takes; a multiplication with its addition counts as two.
Products, convolutions, recurrences and attention are counted by formula, without biases. What works on each value for
itself is counted by the number of values, and by how many operations one takes; that is an estimate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dlprof.schema.vocabulary import MemoryBasis

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """What is known of a layer.

    Attributes:
        name: Its name.
        kind: Its class, for example `Conv2D`; that of torch is `Conv2d`.
        inputs: Shapes of what it is given, the batch first.
        output: Shape of what it gives, the batch first.
        weights: Shapes of its variables, by the last part of their names: `kernel`, `recurrent_kernel`.
        value_bytes: Size of one value (bytes).
        calls: How often a step calls it.
        is_trained: Whether some of its weights are trained.
        is_first: Whether what it is given is data, so that nobody asks for the gradient of that.
    """

    name: str
    kind: str
    inputs: tuple[Shape, ...]
    output: Shape
    weights: Mapping[str, Shape]
    value_bytes: int = 4
    calls: int = 1
    is_trained: bool = True
    is_first: bool = False


@dataclass(frozen=True)
class Flops:
    """Operations of one call of a layer in the forward direction.

    Attributes:
        count: Floating-point operations; None: not known.
        how: By formula (exact), or by the number of values (estimate).
        why_not: Why they are not known; None: they are.
    """

    count: float | None
    how: MemoryBasis = MemoryBasis.EXACT
    why_not: str | None = None


def of(layer: Layer) -> Flops:
    """Operations of one call of a layer, forward."""
    kind = layer.kind.lower().removeprefix("quantized")
    if kind in _FORMULAS:
        return _counted(layer, _FORMULAS[kind])
    if kind in _PER_VALUE:
        return Flops(_PER_VALUE[kind] * math.prod(layer.output), MemoryBasis.ESTIMATE)
    if any(len(shape) > 1 for shape in layer.weights.values()):
        return _as_product(layer)
    return Flops(float(math.prod(layer.output)), MemoryBasis.ESTIMATE)


def _counted(layer: Layer, count: Callable[[Layer], float]) -> Flops:
    try:
        return Flops(float(count(layer)))
    except (KeyError, IndexError, ZeroDivisionError, StopIteration):
        return Flops(None, why_not=f"a {layer.kind} with such shapes is not known")


def _as_product(layer: Layer) -> Flops:
    """A layer of a class of the user's own: one weight that fits its input and output is a product."""
    given = layer.inputs[0] if layer.inputs else ()
    fitting = [
        shape
        for shape in layer.weights.values()
        if len(shape) > 1 and given and {shape[0], shape[-1]} == {given[-1], layer.output[-1]}
    ]
    if len(fitting) != 1:
        return Flops(None, why_not=f"what a {layer.kind} does is not known")
    return Flops(2.0 * math.prod(fitting[0]) * math.prod(layer.output[:-1]), MemoryBasis.ESTIMATE)


def _dense(layer: Layer) -> float:
    """Each output is a sum over the inputs."""
    kernel = _kernel(layer)
    given = kernel[1] if "weight" in layer.weights else kernel[0]  # torch keeps them the other way round
    return 2.0 * given * math.prod(layer.output)


def _convolution(layer: Layer) -> float:
    """Each output is a sum over a window and the channels of its group."""
    kernel = _kernel(layer)
    made = kernel[0] if "weight" in layer.weights else kernel[-1]
    return 2.0 * math.prod(kernel) / made * math.prod(layer.output)


def _depthwise(layer: Layer) -> float:
    """Each output is a sum over a window of one channel."""
    window = _named(layer, "depthwise_kernel", "kernel")[:-2]
    return 2.0 * math.prod(window) * math.prod(layer.output)


def _separable(layer: Layer) -> float:
    """A depthwise convolution, then one of single points."""
    window, point = _named(layer, "depthwise_kernel"), _named(layer, "pointwise_kernel")
    places = math.prod(layer.output) / point[-1]
    return 2.0 * places * (math.prod(window) + math.prod(point))


def _transposed(layer: Layer) -> float:
    """Each input is spread over a window."""
    kernel = _kernel(layer)
    given = kernel[0] if "weight" in layer.weights else kernel[-1]
    return 2.0 * math.prod(kernel) / given * math.prod(layer.inputs[0])


def _recurrent(layer: Layer) -> float:
    """Two products a step of the sequence."""
    batch, steps = layer.inputs[0][:2]
    return (
        2.0
        * batch
        * steps
        * sum(math.prod(shape) for name, shape in layer.weights.items() if len(shape) == 2 and "bias" not in name)
    )


def _cell(layer: Layer) -> float:
    """One step of a sequence."""
    return (
        2.0
        * layer.inputs[0][0]
        * sum(math.prod(shape) for name, shape in layer.weights.items() if len(shape) == 2 and "bias" not in name)
    )


def _attention(layer: Layer) -> float:
    """Four projections, and two products of each query with all keys."""
    query, key = layer.inputs[0], (layer.inputs[1] if len(layer.inputs) > 1 else layer.inputs[0])
    batch, asked, held = query[0], query[1], key[1]
    kernels = {name: shape for name, shape in layer.weights.items() if len(shape) == 3}
    width = math.prod(next(shape for name, shape in kernels.items() if "query" in name)[1:])
    places = {name: held if ("key" in name or "value" in name) else asked for name in kernels}
    projections = sum(math.prod(shape) * places[name] for name, shape in kernels.items())
    return 2.0 * batch * (projections + 2 * asked * held * width)


def _free(_layer: Layer) -> float:
    """Values are moved, or looked up."""
    return 0.0


def _pooled(layer: Layer) -> float:
    """Each value is looked at once."""
    return float(math.prod(layer.inputs[0]))


def _kernel(layer: Layer) -> Shape:
    return _named(layer, "kernel", "weight", "_kernel")


def _named(layer: Layer, *names: str) -> Shape:
    """The first weight of one of these names; Keras on MXNet numbers them (`kernel1`)."""
    known = {re.sub(r"_?\d+$", "", name): shape for name, shape in reversed(list(layer.weights.items()))}
    return next(known[name] for name in names if name in known)


def _ranks(*names: str) -> tuple[str, ...]:
    """Names with `1d`, `2d` and `3d` in the place of `#`."""
    return tuple(name.replace("#", f"{rank}d") for name in names for rank in (1, 2, 3))


_FORMULAS: Mapping[str, Callable[[Layer], float]] = {
    **dict.fromkeys(("dense", "linear", "lazylinear"), _dense),
    **dict.fromkeys(_ranks("conv#", "convolution#", "lazyconv#"), _convolution),
    **dict.fromkeys(_ranks("depthwiseconv#"), _depthwise),
    **dict.fromkeys(_ranks("separableconv#"), _separable),
    **dict.fromkeys(_ranks("conv#transpose", "convtranspose#"), _transposed),
    **dict.fromkeys(("lstm", "gru", "simplernn", "rnn", "bidirectional"), _recurrent),
    **dict.fromkeys(("lstmcell", "grucell", "simplernncell", "rnncell"), _cell),
    "multiheadattention": _attention,
    **dict.fromkeys(
        _ranks("maxpooling#", "averagepooling#", "globalmaxpooling#", "globalaveragepooling#", "maxpool#", "avgpool#"),
        _pooled,
    ),
    **dict.fromkeys(
        (
            "embedding",
            "flatten",
            "reshape",
            "permute",
            "concatenate",
            "repeatvector",
            "inputlayer",
            "identity",
            "masking",
        ),
        _free,
    ),
    **dict.fromkeys(_ranks("cropping#", "zeropadding#", "upsampling#"), _free),
}
"""How the operations of classes are counted, by their names in small letters."""
_PER_VALUE = {
    "activation": 1.0, "relu": 1.0, "leakyrelu": 2.0, "prelu": 2.0, "elu": 3.0, "gelu": 8.0, "softmax": 5.0,
    "sigmoid": 4.0, "tanh": 5.0, "dropout": 2.0, "spatialdropout1d": 2.0, "spatialdropout2d": 2.0, "gaussiannoise": 2.0,
    "batchnormalization": 8.0, "batchnorm1d": 8.0, "batchnorm2d": 8.0, "layernormalization": 8.0, "layernorm": 8.0,
    "groupnormalization": 8.0, "unitnormalization": 4.0, "normalization": 2.0, "rescaling": 2.0,
    "add": 1.0, "subtract": 1.0, "multiply": 1.0, "maximum": 1.0, "minimum": 1.0, "average": 2.0,
}  # fmt: skip
"""Operations for each value that is given, by class; of normalisations while they learn."""
