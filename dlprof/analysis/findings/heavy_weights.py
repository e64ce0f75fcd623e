"""The array of weights that outweighs all others of a model, and the kernels of a step that go through all of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from dlprof.analysis.findings.case import Case
from dlprof.analysis.layer_times import LayerTime
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Category, Direction, MemoryKind, SpanKind


@dataclass(frozen=True)
class Weights:
    """The largest array of weights of a run's models.

    Attributes:
        layer: Its layer; None: not told.
        name: Its own name, with that of its layer where the engine has it so; None: not told.
        shape: Its lengths.
        share: Of all numbers that its model trains: 0 to 1.
        bytes: Its memory; None: not told.
    """

    layer: str | None
    name: str | None
    shape: tuple[int, ...]
    share: float
    bytes: int | None = None

    @property
    def count(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def text(self) -> str:
        """`word_embedding (50,000 x 128)`."""
        called = self.layer or self.name or "one array of weights"
        return f"{called} ({text_of(self.shape)})"


def largest(case: Case) -> Weights | None:
    """The largest one, of the model of which most is known; None: no shapes of weights were told."""
    return next(iter(of_model(case)), None)


def of_model(case: Case) -> list[Weights]:
    """All of the model of which most is known, the largest first; none: no shapes of weights were told."""
    models: dict[int | None, dict[tuple[str | None, str | None], tuple[int, ...]]] = {}
    sized: dict[tuple[int | None, str | None, str | None], int | None] = {}
    for row in case.run.rows("memory_owners"):
        shape = lengths(row["shape"])
        if row["kind"] == MemoryKind.PARAMETERS and shape:
            models.setdefault(row["model"], {})[row["layer"], row["name"]] = shape
            sized[row["model"], row["layer"], row["name"]] = row["bytes"]
    sizes = {model: sum(math.prod(shape) for shape in found.values()) for model, found in models.items()}
    if not sizes:
        return []
    model = max(sizes, key=lambda number: sizes[number])
    ordered = sorted(models[model].items(), key=lambda item: -math.prod(item[1]))
    return [
        Weights(layer, name, shape, math.prod(shape) / max(1, sizes[model]), sized[model, layer, name])
        for (layer, name), shape in ordered
    ]


def shapes(case: Case) -> list[tuple[int, ...]]:
    """The shapes of all arrays of weights that were told."""
    rows = (row for row in case.run.rows("memory_owners") if row["kind"] == MemoryKind.PARAMETERS)
    return [shape for row in rows if (shape := lengths(row["shape"]))]


def text_of(shape: tuple[int, ...]) -> str:
    """`50,000 x 128`."""
    return " x ".join(f"{length:,}" for length in shape)


def lengths(text: str | None) -> tuple[int, ...] | None:
    """Those of a shape that is told as `64x12`; None: one of them is not known, or there are none."""
    words = (text or "").split("x")
    return tuple(int(one) for one in words) if all(one.isdigit() for one in words) else None


def of_each(shape: str | None) -> tuple[int, ...] | None:
    """All lengths of a shape but the first, which is that of the batch; None: one of them is not known."""
    return lengths((shape or "").partition("x")[2])


def only(inputs: Sequence[str] | None) -> str | None:
    """The shape of the only input of a layer; None: it has none, or several."""
    return inputs[0] if inputs and len(inputs) == 1 else None


def class_of(case: Case, layer: str | None) -> str | None:
    """The class of a layer, as Keras told it; None: not told."""
    if layer is None:
        return None
    known = {row["layer"]: row["class"] for row in case.run.rows("layers")}
    for call in case.calls.of(SpanKind.FIT, SpanKind.ON_BATCH):
        for one in (call.detail.get("model") or {}).get("layers") or ():
            known.setdefault(one["name"], one["class"])
        break
    return known.get(layer)


def updates(case: Case) -> dict[TreePath, int]:
    """Kernels that run once a step whatever the batch is: those that update weights, by leaf (ns)."""
    return by_leaf(case, [kernel for kernel in case.tree.layers if is_update(kernel)])


def of_layer(case: Case, layer: str | None, *directions: Direction) -> dict[TreePath, int]:
    """Kernels of a layer, by leaf (ns)."""
    mine = (kernel for kernel in case.tree.layers if layer is not None and kernel.layer == layer)
    return by_leaf(case, [one for one in mine if one.direction in directions and not is_update(one)])


def of_operators(case: Case, names: Collection[str]) -> dict[TreePath, int]:
    """Kernels of operators of these names, by leaf (ns)."""
    return by_leaf(case, [one for one in case.tree.layers if one.op in names])


def is_update(kernel: LayerTime) -> bool:
    """Whether it is one of the optimiser's."""
    return kernel.direction == Direction.UPDATE or kernel.category == Category.OPTIMISER


def by_leaf(case: Case, kernels: Iterable[LayerTime]) -> dict[TreePath, int]:
    """Times of kernels by leaf (ns)."""
    times: dict[TreePath, int] = {}
    for kernel in kernels:
        leaf = case.tree.kernels_leaf(kernel.category)
        times[leaf] = times.get(leaf, 0) + kernel.ns
    return times


def added(*parts: dict[TreePath, int]) -> dict[TreePath, int]:
    """Times by leaf, added (ns)."""
    leaves = dict.fromkeys(leaf for part in parts for leaf in part)
    return {leaf: sum(part.get(leaf, 0) for part in parts) for leaf in leaves}


def scaled(times: dict[TreePath, int], share: float) -> dict[TreePath, int]:
    """A share of them (ns)."""
    return {leaf: int(ns * share) for leaf, ns in times.items()}
