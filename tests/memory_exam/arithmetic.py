"""What models of the scenarios hold, and what a step of theirs takes, by arithmetic: of their sizes, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TOKENS, LSTM_TOKENS, WORDS, IMAGE = 32, 20, 500, 224
"""Sizes that `scripts/truth.py` gives."""


@dataclass(frozen=True)
class Known:
    """A model.

    Attributes:
        parameters: All values of it that are kept.
        trained: Those that are trained.
        slots: Values that its optimiser keeps for each that is trained.
        flops: Operations of a step for one row: products of the forward pass, and of both gradients.
    """

    parameters: int
    trained: int
    slots: int
    flops: int


def mlp() -> Known:
    """784, 512, 512, 10; RMSprop."""
    products = [784 * 512, 512 * 512, 512 * 10]
    weights = sum(products) + 512 + 512 + 10
    return Known(weights, weights, 1, 2 * (3 * sum(products) - products[0]))


def cnn() -> Known:
    """Two convolutions of 3 x 3 without padding, a pool, two dense layers; RMSprop."""
    first, rest = 26 * 26 * 32 * 9, [24 * 24 * 64 * 9 * 32, 12 * 12 * 64 * 128, 128 * 10]
    weights = 9 * 32 + 32 + 9 * 32 * 64 + 64 + 12 * 12 * 64 * 128 + 128 + 128 * 10 + 10
    return Known(weights, weights, 1, 2 * (2 * first + 3 * sum(rest)))


def lstm() -> Known:
    """Embedding of 125, 100 units, two classes; Adam."""
    cell = 4 * 100 * (125 + 100)
    weights = WORDS * 125 + cell + 400 + 202
    return Known(weights, weights, 2, 2 * 3 * (LSTM_TOKENS * cell + 200))


def transformer() -> Known:
    """Two blocks of width 64; Adam."""
    block = 4 * (64 * 64 + 64) + 2 * 128 + 64 * 256 + 256 + 256 * 64 + 64
    weights = WORDS * 64 + TOKENS * 64 + 2 * block + 130
    products = 2 * (4 * TOKENS * 64 * 64 + 2 * TOKENS * TOKENS * 64 + 2 * TOKENS * 64 * 256) + 128
    return Known(weights, weights, 2, 2 * 3 * products)


def resnet50() -> Known:
    """Convolutions with biases, each with a normalisation of four values a channel, two of which are trained; SGD."""
    convolutions = list(_of_resnet())
    kernels = sum(size * size * given * made for _, size, given, made in convolutions)
    channels = sum(made for _, _, _, made in convolutions)
    dense = 2048 * 10
    products = [places * places * size * size * given * made for places, size, given, made in convolutions]
    trained = kernels + 3 * channels + dense + 10
    return Known(trained + 2 * channels, trained, 1, 2 * (3 * (sum(products) + dense) - products[0]))


def _of_resnet() -> Iterator[tuple[int, int, int, int]]:
    """(height of the result, size of the kernel, channels given, channels made) of each convolution."""
    yield IMAGE // 2, 7, 3, 64
    given, height = 64, IMAGE // 4
    for channels, blocks, strides in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        height //= strides
        for number in range(blocks):
            if not number:
                yield height, 1, given, 4 * channels
            yield height, 1, given, channels
            yield height, 3, channels, channels
            yield height, 1, channels, 4 * channels
            given = 4 * channels


MODELS = {one.__name__: one for one in (mlp, cnn, lstm, transformer, resnet50)}
