"""Operations of layers, against arithmetic."""

from __future__ import annotations

import pytest

from dlprof.analysis import layer_flops
from dlprof.analysis.layer_flops import Flops, Layer
from dlprof.schema.vocabulary import MemoryBasis


def layer(kind: str, given: tuple[int, ...], output: tuple[int, ...], **weights: tuple[int, ...]) -> Layer:
    """A layer with one input."""
    return Layer("one", kind, (given,), output, {name.replace("__", "/"): shape for name, shape in weights.items()})


@pytest.mark.parametrize(
    ("one", "count"),
    [
        (layer("Dense", (128, 784), (128, 512), kernel=(784, 512), bias=(512,)), 2 * 128 * 784 * 512),
        (layer("Linear", (128, 784), (128, 512), weight=(512, 784), bias=(512,)), 2 * 128 * 784 * 512),
        (layer("Dense", (128, 784), (128, 512), kernel12=(784, 512), bias12=(512,)), 2 * 128 * 784 * 512),
        (layer("Dense", (8, 20, 64), (8, 20, 32), kernel=(64, 32)), 2 * 8 * 20 * 64 * 32),
        (layer("Conv2D", (8, 32, 32, 3), (8, 30, 30, 16), kernel=(3, 3, 3, 16)), 2 * 8 * 30 * 30 * 16 * 27),
        (layer("Conv2d", (8, 3, 32, 32), (8, 16, 30, 30), weight=(16, 3, 3, 3)), 2 * 8 * 30 * 30 * 16 * 27),
        (layer("Conv2D", (8, 32, 32, 8), (8, 32, 32, 16), kernel=(3, 3, 4, 16)), 2 * 8 * 32 * 32 * 16 * 36),
        (layer("DepthwiseConv2D", (2, 8, 8, 4), (2, 8, 8, 8), depthwise_kernel=(3, 3, 4, 2)), 2 * 2 * 8 * 8 * 8 * 9),
        (
            layer("SeparableConv2D", (2, 8, 8, 4), (2, 8, 8, 6), depthwise_kernel=(3, 3, 4, 1),
                  pointwise_kernel=(1, 1, 4, 6)),
            2 * 2 * 64 * (36 + 24),
        ),
        (layer("Conv2DTranspose", (2, 8, 8, 4), (2, 16, 16, 6), kernel=(3, 3, 6, 4)), 2 * 2 * 64 * 4 * 54),
        (layer("LSTM", (4, 10, 8), (4, 16), kernel=(8, 64), recurrent_kernel=(16, 64)), 2 * 4 * 10 * (512 + 1024)),
        (
            layer("GRU", (4, 10, 8), (4, 10, 16), kernel=(8, 48), recurrent_kernel=(16, 48), bias=(2, 48)),
            2 * 4 * 10 * (384 + 768),
        ),
        (
            layer("MultiHeadAttention", (2, 10, 32), (2, 10, 32), query__kernel=(32, 4, 8), key__kernel=(32, 4, 8),
                  value__kernel=(32, 4, 8), attention_output__kernel=(4, 8, 32)),
            2 * 2 * (4 * 10 * 1024 + 2 * 10 * 10 * 32),
        ),
        (layer("Embedding", (4, 10), (4, 10, 16), embeddings=(100, 16)), 0),
        (layer("MaxPooling2D", (2, 8, 8, 4), (2, 4, 4, 4)), 2 * 8 * 8 * 4),
    ],
    ids=lambda value: value.kind if isinstance(value, Layer) else "",
)  # fmt: skip
def test_operations_are_those_of_the_formula(one: Layer, count: int) -> None:
    """Two for a multiplication and an addition."""
    assert layer_flops.of(one).count == count


def test_what_works_on_each_value_is_an_estimate() -> None:
    """By the number of values: one operation of ReLU."""
    assert layer_flops.of(layer("ReLU", (2, 8), (2, 8))) == Flops(16.0, MemoryBasis.ESTIMATE)


def test_a_layer_of_the_users_own_with_one_fitting_weight_is_a_product() -> None:
    """Of 8 values in and 4 out; it may do more, so that is an estimate."""
    assert layer_flops.of(layer("MyLayer", (2, 8), (2, 4), w=(8, 4))) == Flops(2 * 2 * 32, MemoryBasis.ESTIMATE)


def test_what_a_layer_of_the_users_own_does_is_not_guessed() -> None:
    """Two weights that may be used in any way."""
    told = layer_flops.of(layer("MyLayer", (2, 8), (2, 8), u=(8, 8), v=(8, 8)))

    assert (told.count, told.why_not) == (None, "what a MyLayer does is not known")


def test_shapes_that_do_not_fit_a_class_are_no_error() -> None:
    """A `Dense` without a kernel: of another library."""
    told = layer_flops.of(layer("Dense", (2, 8), (2, 8)))

    assert (told.count, told.why_not) == (None, "a Dense with such shapes is not known")
