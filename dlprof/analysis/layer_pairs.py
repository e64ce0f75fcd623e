"""Kernels by layer of two models beside each other; layers that Keras named by itself are joined by their place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis.breakdown import Breakdown
from dlprof.schema.vocabulary import Category, SpanKind
from dlprof.store.run import Run

_OPS_SHOWN = 3
_TELLING = frozenset({SpanKind.FIT, SpanKind.ON_BATCH, SpanKind.PREDICT, SpanKind.EVALUATE})
"""Spans whose facts tell of the model."""
_Key = tuple[str | None, str | None]
"""Layer and direction."""


@dataclass(frozen=True)
class LayerItem:
    """Kernels of one layer in one direction on both sides (ns, in all steps); None: not there."""

    layer: str | None
    direction: str | None
    a_ns: int | None
    b_ns: int | None
    a_ops: tuple[str, ...]
    b_ops: tuple[str, ...]


def join(a: Sequence[Breakdown], b: Sequence[Breakdown], renamed: Mapping[str, str]) -> tuple[LayerItem, ...]:
    """Kernels by layer and direction, means over the runs of a side; the largest difference comes first.

    Args:
        a: Trees of one side.
        b: Of the other.
        renamed: B's names of layers to A's, as `names` finds them.
    """
    sides = _by_layer(a, {}), _by_layer(b, renamed)
    items = [_item(key, *(side.get(key) for side in sides)) for key in {**sides[0], **sides[1]}]
    return tuple(sorted(items, key=lambda item: -abs((item.a_ns or 0) - (item.b_ns or 0))))


def _item(key: _Key, a: Mapping[str, int] | None, b: Mapping[str, int] | None) -> LayerItem:
    a_ns, b_ns = (sum(ops.values()) if ops is not None else None for ops in (a, b))
    return LayerItem(*key, a_ns, b_ns, _largest(a or {}), _largest(b or {}))


def _by_layer(trees: Sequence[Breakdown], renamed: Mapping[str, str]) -> dict[_Key, dict[str, int]]:
    """Layer and direction to operator to mean time (ns)."""
    sums: dict[_Key, dict[str, int]] = {}
    for kernel in (kernel for tree in trees for kernel in tree.layers):
        layer = renamed.get(kernel.layer, kernel.layer) if kernel.layer is not None else None
        ops = sums.setdefault((layer, kernel.direction), {})
        name = kernel.op or kernel.category or Category.OTHER
        ops[name] = ops.get(name, 0) + kernel.ns // len(trees)
    return sums


def _largest(ops: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(ops, key=lambda name: -ops[name])[:_OPS_SHOWN])


def names(a: Run, b: Run) -> dict[str, str]:
    """B's names of layers, and of the optimiser, to A's, where their models are the same layer by layer."""
    one, two = _model(a), _model(b)
    if not one or not two:
        return {}
    renamed: dict[str, str] = {}
    first, second = ((model.get("optimizer") or {}).get("name") for model in (one, two))
    if first and second:
        renamed[second] = first
    pairs = _layers(one), _layers(two)
    if [layer["class"] for layer in pairs[0]] == [layer["class"] for layer in pairs[1]]:
        renamed.update({theirs["name"]: ours["name"] for ours, theirs in zip(*pairs, strict=True)})
    return renamed


def _layers(model: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [layer for layer in model.get("layers", ()) if layer["class"] != "InputLayer"]


def _model(run: Run) -> Mapping[str, Any]:
    """What a loop told of its model; empty where none did."""
    for row in run.chosen("spans", "kind", _TELLING, ("detail",)):
        if row["detail"]:
            model: Mapping[str, Any] | None = json.loads(row["detail"]).get("model")
            if model:
                return model
    return {}
