"""What a training step asks of each layer, by direction: operations and the bytes that must at least be moved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dlprof.analysis import layer_flops
from dlprof.analysis.layer_flops import Layer
from dlprof.schema.vocabulary import Direction, MemoryBasis

_NEVER_TWICE = frozenset({"embedding"})
"""Layers whose input has no gradient, as it is numbers of rows."""
_VIEWS = frozenset({"flatten", "reshape"})
"""Layers whose output is their input, seen in another shape."""


@dataclass(frozen=True)
class LayerWork:
    """What one step asks of a layer in one direction.

    Attributes:
        layer: Its name.
        kind: Its class.
        direction: Forward or backward.
        flops: Floating-point operations; None: not known.
        bytes: Of inputs, weights and outputs, each read or written once: no way of computing it moves less, unless what
            is next to it is fused with it.
        how: Exact: by formula. Estimate: by the number of values.
        why_not: Why the operations are not known; None: they are.
    """

    layer: str
    kind: str
    direction: Direction
    flops: float | None
    bytes: float
    how: MemoryBasis
    why_not: str | None


def of_step(layers: Iterable[Layer]) -> tuple[LayerWork, ...]:
    """The work of a training step, layer by layer."""
    return tuple(work for layer in layers for work in _of_layer(layer))


def _of_layer(layer: Layer) -> Iterator[LayerWork]:
    forward = layer_flops.of(layer)
    flops = None if forward.count is None else forward.count * layer.calls
    moved = float(_moved(layer) * layer.value_bytes * layer.calls)
    for direction, times in ((Direction.FORWARD, 1), (Direction.BACKWARD, _gradients(layer))):
        if times:
            asked = None if flops is None else flops * times
            yield LayerWork(layer.name, layer.kind, direction, asked, moved * times, forward.how, forward.why_not)


def _gradients(layer: Layer) -> int:
    """Of how many of its inputs and weights gradients are asked for: each takes as much as the layer itself."""
    of_weights = layer.is_trained and any(len(shape) > 1 for shape in layer.weights.values())
    of_input = not layer.is_first and layer.kind.lower() not in _NEVER_TWICE
    return int(of_weights) + int(of_input)


def _moved(layer: Layer) -> int:
    """Values that are read or written: of an embedding only the rows that are looked up, of another shape none."""
    if layer.kind.lower() in _VIEWS:
        return 0
    if layer.kind.lower() == "embedding":
        return 2 * math.prod(layer.output)
    given = sum(math.prod(shape) for shape in layer.inputs)
    return given + sum(math.prod(shape) for shape in layer.weights.values()) + math.prod(layer.output)
