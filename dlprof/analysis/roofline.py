"""How near the layers of a model come to what the machine can do: their work over the time that their kernels took.

The work of a step is known from shapes (`layer_work`), the time from a window of traced steps, the ceilings from a
measurement on the machine. A layer can be no faster than the time that its operations take at the ceiling of
computing, nor than its bytes take at that of memory: the larger of the two is what binds it, unless it takes many
times as long. Then it is what surrounds its kernels, where these are small, or else how they do their work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import kernel_window, kernels, layer_work, loop_sums, steps
from dlprof.analysis.kernels import Row
from dlprof.analysis.layer_flops import Layer, Shape
from dlprof.analysis.layer_work import LayerWork
from dlprof.schema.manifest import Ceilings
from dlprof.schema.vocabulary import Bound, Category, Direction, EventKind, Loop, MemoryBasis
from dlprof.store.run import Run

_WORKING = (EventKind.KERNEL.word, EventKind.OPERATOR.word)
_FAR = 10.0
"""Times the least possible time from which on it is not the ceiling that binds."""
_IMPOSSIBLE = 1.25
"""Share of the ceiling of computing that nothing reaches: part of such a layer's kernels ran under another's name, as
in a fusion, or the ceiling is wrong."""
_FROM_CACHES = 4.0
"""The same of moving: what is in caches moves so much faster than memory."""
_SMALL_NS = 50_000
"""Kernels that last less on average are small: what surrounds them counts."""
_PRODUCTS = (Category.MATMUL, Category.CONV, Category.RECURRENT)
_FASTER = {"float16": "float32", "bfloat16": "float32"}
"""Types whose ceiling was not measured, and the one that cores compute them in at best."""


@dataclass(frozen=True)
class LayerRate:
    """A layer in one direction, in one training step.

    Attributes:
        work: What it asks for.
        ns: Wall time of its kernels (ns); None: no kernel of it was traced, or not those that do its work.
        bound: What binds it; None: not known, because the time, the work or the ceilings are not, or the rate
            is beyond any.
        reached: Share of the nearer ceiling, from 0 to 1 (more: caches, a ceiling of a busy machine, or missing
            kernels).
    """

    work: LayerWork
    ns: float | None
    bound: Bound | None
    reached: float | None

    @property
    def flops_per_s(self) -> float | None:
        """Achieved rate; None: not known, or there is nothing to compute."""
        return self.work.flops / self.ns * 1e9 if self.work.flops and self.ns else None

    @property
    def bytes_per_s(self) -> float | None:
        """Achieved rate of what must be moved at least; None: not known, or nothing must be."""
        return self.work.bytes / self.ns * 1e9 if self.work.bytes and self.ns else None


@dataclass(frozen=True)
class StepRate:
    """A training step as a whole: what all layers ask for together, over the time that it takes.

    Attributes:
        flops: Operations; None: those of a layer are not known.
        bytes: What the layers must move at least (bytes), without what the optimiser moves; None: there are no layers.
        traced_ns: Wall time of a step in the kernel window (ns); None: none was traced.
        plain_ns: That of a step without a tracer, as the report tells it (ns); None: not known.
        peak: What the machine computes at most in the type of most layers (FLOP/s); None: not measured.
    """

    flops: float | None = None
    bytes: float | None = None
    traced_ns: float | None = None
    plain_ns: float | None = None
    peak: float | None = None

    @property
    def ns(self) -> float | None:
        """The plain step, or else the traced one, which takes longer."""
        return self.plain_ns or self.traced_ns

    @property
    def which(self) -> str:
        """Whose time that is: of a `plain` step, or of a `traced` one."""
        return "plain" if self.plain_ns else "traced"

    @property
    def flops_per_s(self) -> float | None:
        """Achieved rate; None: not known."""
        return self.flops / self.ns * 1e9 if self.flops and self.ns else None

    @property
    def reached(self) -> float | None:
        """Share of what the machine computes at most, from 0 to 1: the model's utilisation of it, often called MFU."""
        return self.flops_per_s / self.peak if self.flops_per_s and self.peak else None


@dataclass(frozen=True)
class Roofline:
    """All layers of the model that was trained.

    Attributes:
        layers: In the order of the model; empty: see `why_not`.
        step: The training step as a whole.
        traced_steps: Training steps in all kernel windows.
        ceilings: What the machine can do; None: it was not measured.
        why_not: Why there are no layers; None: there are.
        why_no_times: Why no layer has a time; None: some have, or there are no layers.
        unnamed: Share of the kernels' time that is of no layer, 0 to 1; None: no kernels were traced.
    """

    layers: tuple[LayerRate, ...]
    step: StepRate
    traced_steps: int
    ceilings: Ceilings | None
    why_not: str | None = None
    why_no_times: str | None = None
    unnamed: float | None = None


def of_run(run: Run) -> Roofline:
    """The layers of a run, with what is known of their time."""
    window = kernel_window.main_window(run)
    traced = window is not None and window.loop == Loop.TRAIN and window.steps > 0
    times, unnamed = _times(run, window.number, window.steps) if window is not None and traced else ({}, None)
    rows = _model(run, {layer for layer, _ in times})
    ceilings = run.manifest.machine.ceilings
    if not rows:
        why = run.missing("layers") or "no model told its layers; one of a class of the user's own has no graph of them"
        return Roofline((), StepRate(), 0, ceilings, why)
    known = [layer for row in rows if (layer := _layer(row)) is not None]
    rates = tuple(_rate(work, times, ceilings, _dtype(rows)) for work in layer_work.of_step(known))
    flops = [rate.work.flops for rate in rates]
    whole = None if None in flops or len(known) < len(rows) else sum(each for each in flops if each is not None)
    step = StepRate(
        whole,
        sum(rate.work.bytes for rate in rates),
        (window.end_ns - window.begin_ns) / window.steps if window is not None and traced else None,
        _plain_ns(run),
        _peak(ceilings, _dtype(rows)),
    )
    count = sum(row["steps"] or 0 for row in run.rows("kernel_windows") if row["loop"] == Loop.TRAIN)
    return Roofline(rates, step, count, ceilings, None, None if times else _why_no_times(run), unnamed)


def _plain_ns(run: Run) -> float | None:
    """What the report tells of a training step; None: not known, or each steady one was traced."""
    sums = run.once("loop_sums", loop_sums.of_run).get(Loop.TRAIN)
    if sums is None or not sums.plain.rows:
        return None
    return next((one.median_ns for one in steps.of_run(run) if one.loop == Loop.TRAIN), None)


def _why_no_times(run: Run) -> str:
    reason = next((row["reason"] for row in run.rows("probes") if row["name"] == "kernels"), None)
    return run.missing("kernel_events") or reason or "no kernel of a layer was traced in a training step"


@dataclass(frozen=True)
class _Time:
    """Kernels of a layer in one direction.

    Attributes:
        ns: Wall time in a step (ns).
        mean_ns: How long one lasts on average (ns).
        lacks_products: None of them is a product, and most of the step's kernels are of no layer: products may be among
            these, as in a loop that an engine shows as one operator.
    """

    ns: float
    mean_ns: float
    lacks_products: bool


def _times(run: Run, window: int, steps: int) -> tuple[dict[tuple[str, str], _Time], float | None]:
    """By layer and direction; and the share of all kernels' time that is of no layer (None: there were no kernels).

    Operators that lie in one another, or side by side, are counted once as far as sums tell: neither the sum of their
    wall times nor that of their own times is less than the wall time of all.
    """
    sums: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    products: set[tuple[str, str]] = set()
    owned = whole = 0
    for row in kernels.summarise(run, "layer", kinds=_WORKING, window=window).work:
        wall = row.total_ns if row.union_ns is None else row.union_ns
        whole += wall
        if row.layer is not None and row.direction is not None:
            owned += wall
            sums.setdefault((row.layer, row.direction), []).append((wall, row.total_ns, row.count))
            if row.keys.get("category") in _PRODUCTS:
                products.add((row.layer, row.direction))
    is_hidden = 2 * owned < whole
    times = {key: _time(parts, steps, lacks=is_hidden and key not in products) for key, parts in sums.items()}
    return times, 1 - owned / whole if whole else None


def _time(parts: Sequence[tuple[int, int, int]], steps: int, *, lacks: bool) -> _Time:
    wall, own, count = (sum(one) for one in zip(*parts, strict=True))
    return _Time(min(wall, own) / steps, own / count, lacks)


def _model(run: Run, traced: set[str]) -> Sequence[Mapping[str, Any]]:
    """The layers of one model: that of which most kernels were seen."""
    models: dict[int, list[Mapping[str, Any]]] = {}
    for row in run.rows("layers"):
        models.setdefault(row["model"], []).append(row)
    return max(models.values(), key=lambda rows: (len({row["layer"] for row in rows} & traced), len(rows)), default=())


def _layer(row: Mapping[str, Any]) -> Layer | None:
    """A layer of the table; None where a length is not known."""
    inputs, output = [_shape(one) for one in row["inputs"] or ()], _shape(row["output"])
    weights = [_shape(one) for one in row["weights"] or ()]
    size = row["bytes_per_value"]
    if output is None or size is None or None in inputs or None in weights:
        return None
    return Layer(
        name=row["layer"],
        kind=row["class"],
        inputs=tuple(one for one in inputs if one is not None),
        output=output,
        weights=dict(zip(row["weight_names"], (one for one in weights if one is not None), strict=True)),
        value_bytes=size,
        calls=row["calls"],
        is_trained=row["trained"],
        is_first=row["first"],
    )


def _shape(text: str) -> Shape | None:
    lengths = text.split("x") if text else []
    return None if "?" in lengths else tuple(int(one) for one in lengths)


def _dtype(rows: Iterable[Mapping[str, Any]]) -> str:
    """The type in which most layers compute."""
    return str(Counter(row["dtype"] for row in rows).most_common(1)[0][0])


def _rate(work: LayerWork, times: Mapping[tuple[str, str], _Time], ceilings: Ceilings | None, dtype: str) -> LayerRate:
    time = times.get((work.layer, work.direction))
    if time is None or (time.lacks_products and work.how == MemoryBasis.EXACT and work.flops):
        return LayerRate(work, None, None, None)
    peak = _peak(ceilings, dtype)
    if ceilings is None or peak is None or work.flops is None or not ceilings.bytes_per_s:
        return LayerRate(work, time.ns, None, None)
    computing, moving = work.flops / peak * 1e9, work.bytes / ceilings.bytes_per_s * 1e9
    least = max(computing, moving)
    if not least:
        return LayerRate(work, time.ns, None, None)
    bound = Bound.COMPUTE if computing >= moving else Bound.BANDWIDTH
    if time.ns > _FAR * least:
        bound = Bound.OVERHEAD if time.mean_ns < _SMALL_NS else Bound.KERNEL
    if least > (_IMPOSSIBLE if computing > moving else _FROM_CACHES) * time.ns:
        return LayerRate(work, time.ns, None, least / time.ns if time.ns else None)
    return LayerRate(work, time.ns, bound, least / time.ns if time.ns else None)


def _peak(ceilings: Ceilings | None, dtype: str) -> float | None:
    if ceilings is None:
        return None
    return ceilings.flops_per_s.get(dtype) or ceilings.flops_per_s.get(_FASTER.get(dtype, ""))


def main_rows(roofline: Roofline, rows: Sequence[Row]) -> dict[int, LayerRate]:
    """For each layer and direction the row of its main operator: of products, or else of all, that with most time.

    Args:
        roofline: The layers.
        rows: Rows of kernels, told apart by layer, direction and operator.

    Returns:
        Layers by the number of their row.
    """
    rates = {(rate.work.layer, rate.work.direction): rate for rate in roofline.layers}
    main: dict[tuple[str | None, str | None], int] = {}
    for number, row in enumerate(rows):
        key = (row.layer, row.direction)
        if key in rates and (key not in main or _weight(row) > _weight(rows[main[key]])):
            main[key] = number
    return {
        number: rates[layer, Direction(direction)] for (layer, direction), number in main.items() if layer and direction
    }


def _weight(row: Row) -> tuple[bool, int]:
    return row.keys.get("category") in _PRODUCTS, row.total_ns
