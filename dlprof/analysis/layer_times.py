"""Kernel time by layer, direction and operator, as shares of a known time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlprof.analysis import equal_steps, kernels
from dlprof.analysis.kernel_window import main_window
from dlprof.analysis.shares import proportional
from dlprof.engines import combined
from dlprof.schema.vocabulary import Category, EventKind, PseudoLayer, known_category
from dlprof.store.run import Run

_Key = tuple[str | None, str | None, str | None, str | None]
"""Layer, direction, operator and category."""
_WORKING = (EventKind.KERNEL.word, EventKind.OPERATOR.word)


@dataclass(frozen=True)
class LayerTime:
    """Kernel time of a layer in one direction, as a part of the run (ns)."""

    layer: str | None
    direction: str | None
    op: str | None
    category: str | None
    ns: int


def measured(run: Run) -> tuple[LayerTime, ...]:
    """All that was traced, each with its own time: kernels of devices, or where there were none, operators."""
    rows = kernels.summarise(run, "layer", kinds=_WORKING).work
    return tuple(LayerTime(row.layer, row.direction, row.op, row.category, row.total_ns) for row in rows)


def shares(run: Run, time_ns: int, window: int | None) -> tuple[LayerTime, ...]:
    """Some time, shared by the kernels of the model as they were traced; input pipelines and Python are none of them.

    Where steps of equal work were traced, an operator's time is that of the one in the middle (`equal_steps`).

    Args:
        run: The run.
        time_ns: What they are to sum to (ns).
        window: Only the kernels of this window; None: of all.
    """
    weights: dict[_Key, int] = {}
    scales = _scales(run, window)
    for row in kernels.summarise(run, "layer", kinds=_WORKING, window=window).work:
        if row.layer != PseudoLayer.INPUT and row.op not in combined.python_operators():
            key = row.layer, row.direction, row.op, row.category
            weights[key] = weights.get(key, 0) + int(row.total_ns * scales.get(key, 1.0))
    return tuple(LayerTime(*key, ns) for key, ns in proportional(time_ns, weights).items())


def _scales(run: Run, window: int | None) -> dict[_Key, float]:
    """What the time of operators in a window is to be multiplied with, to be that of typical steps."""
    main = main_window(run) if window is not None else None
    steps = equal_steps.of_window(run, main) if main is not None and main.number == window else None
    if main is None or steps is None:
        return {}
    each = equal_steps.by_operator(run, main, steps)
    times = steps.typical(each), each.sum(axis=0)
    sums: dict[_Key, tuple[float, float]] = {}
    for row in run.rows("kernel_ops"):
        key = row["layer"], row["direction"], row["op"], row["category"]
        typical, was = sums.get(key, (0.0, 0.0))
        sums[key] = typical + float(times[0][row["op_id"]]), was + float(times[1][row["op_id"]])
    return {key: typical / was for key, (typical, was) in sums.items() if was > 0}


def by_category(layers: Iterable[LayerTime]) -> dict[Category, int]:
    """Sums by category (ns)."""
    sums: dict[Category, int] = {}
    for layer in layers:
        category = known_category(layer.category)
        sums[category] = sums.get(category, 0) + layer.ns
    return sums
