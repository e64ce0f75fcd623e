"""A layer that is given whole maps, flattened: it holds nearly all of the weights, and takes most of the steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dlprof.analysis.findings import heavy_weights
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.heavy_weights import Weights
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Direction

_SHARE_OF_WEIGHTS = 0.8
_LARGE = 1_000_000
_FEATURES = 4096
"""A layer that is given fewer numbers has been given little."""
_POSITIONS = 16
"""Positions of the maps that were flattened, at least: pooling them leaves one each."""
_SHARE_OF_WORK = 0.10
_SHARE_OF_STEPS = 0.40
"""Below that it is one layer among others: many networks end so, and are content with it."""
_OF_CONVOLUTION = 4
"""Axes of the weights of a convolution over images."""


@dataclass(frozen=True)
class FlattenedMaps:
    """What such a layer is given.

    Attributes:
        positions: Of the maps: pooling leaves one of them.
        kernels: What its products and its update take, as far as they need not be, by leaf (ns).
        share: Their part of the steps: 0 to 1.
    """

    positions: int
    kernels: Mapping[TreePath, int]
    share: float


def found(case: Case, weights: Weights | None) -> FlattenedMaps | None:
    """That of the layer with the largest weights; None: it is no such layer, or is not worth a word.

    Args:
        case: The run, whose steps are split.
        weights: Its largest weights; None: not told.
    """
    if weights is None or case.steps is None or weights.share < _SHARE_OF_WEIGHTS or weights.count < _LARGE:
        return None
    positions = _positions(case, weights)
    if positions is None or positions < _POSITIONS:
        return None
    own = heavy_weights.of_layer(case, weights.layer, Direction.FORWARD, Direction.BACKWARD)
    updates = heavy_weights.scaled(heavy_weights.updates(case), weights.share)
    kernels = heavy_weights.scaled(heavy_weights.added(own, updates), 1 - 1 / positions)
    share = sum(kernels.values()) / max(1, case.own(case.steps))
    if sum(kernels.values()) < _SHARE_OF_WORK * case.whole_ns or share < _SHARE_OF_STEPS:
        return None
    return FlattenedMaps(positions, kernels, min(1.0, share))


def _positions(case: Case, weights: Weights) -> int | None:
    """How many positions of maps are flattened into the layer; None: it is not given maps, as far as is known."""
    if len(weights.shape) != 2:
        return None
    layers = case.run.rows("layers")
    for row in (one for one in layers if one["class"] == "Flatten" and one["inputs"]):
        lengths = row["inputs"][0].split("x")[1:]
        given = [int(one) for one in lengths if one.isdigit()]
        whole = math.prod(given)
        if len(given) == len(lengths) >= 3 and whole in weights.shape and whole >= _FEATURES:
            return whole // _channels(case, given)
    return None if layers else _of_convolutions(case, weights)


def _of_convolutions(case: Case, weights: Weights) -> int | None:
    """Where no graph of layers is known: inputs of the layer, by channels of the convolutions that fit into them."""
    features = max(weights.shape)
    channels = {shape[0] for shape in heavy_weights.shapes(case) if len(shape) == _OF_CONVOLUTION}
    fits = [features // one for one in channels if features % one == 0]
    return min(fits) if fits and features >= _FEATURES else None


def _channels(case: Case, lengths: list[int]) -> int:
    """The axis of the channels of maps: as Keras was told, the first or the last."""
    told = case.training.settings.get("layout") if case.training else None
    return lengths[0] if told == "channels_first" else lengths[-1]
