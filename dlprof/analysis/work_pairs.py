"""Work of layers of two sides beside each other: whether a gap is more work, or the same work done worse.

The time of a layer is its share of a step without a tracer, as in the tree: kernels of several layers that run at one
moment, on threads or streams, share it, so that all layers together take no longer than the step.

A layer takes its work over its rate, so the ratio of two times is that of their work times that of their rates, turned
around. The logarithms add up: the cause is the one with most of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dlprof.analysis import layer_pairs, layer_times, overlapped_steps, roofline
from dlprof.analysis.compare import Side
from dlprof.analysis.roofline import LayerRate, Roofline
from dlprof.schema.vocabulary import Bound, Direction, WorkCause
from dlprof.store.run import Run

_ALIKE = 1.2
"""Times that differ by less than this factor are alike."""
_MOST = 2 / 3
"""Of the difference: so much of it is one cause's."""
_Key = tuple[str, Direction]


@dataclass(frozen=True)
class WorkItem:
    """A layer in one direction on both sides, in one training step; None: not there, or not known.

    Attributes:
        layer: Its name in A, or in B where only that has it.
        kind: Its class.
        direction: Forward or backward.
        a_flops, b_flops: Floating-point operations.
        a_moved_bytes, b_moved_bytes: What must be moved at least (bytes).
        a_ns, b_ns: Its kernels' share of the time of a step (ns).
        a_flops_per_s, b_flops_per_s: Achieved rates.
        a_bound, b_bound: What binds it.
        a_reached, b_reached: Share of the ceiling that binds it.
        cause: Why one side takes longer.
    """

    layer: str
    kind: str
    direction: Direction
    a_flops: float | None
    b_flops: float | None
    a_moved_bytes: float | None
    b_moved_bytes: float | None
    a_ns: float | None
    b_ns: float | None
    a_flops_per_s: float | None
    b_flops_per_s: float | None
    a_bound: Bound | None
    b_bound: Bound | None
    a_reached: float | None
    b_reached: float | None
    cause: WorkCause | None


@dataclass(frozen=True)
class WorkPair:
    """All layers of two sides, of the first run of each.

    Attributes:
        a_step_flops, b_step_flops: Operations of a training step; None: those of a layer are not known.
        a_flops, b_flops: Of them those of layers whose operations and kernels are known on both sides.
        a_ns, b_ns: The share of these layers' kernels of the time of a step (ns).
        cause: Why one side takes longer in these; None: there are none.
        layers: Layer by layer, the largest difference of time first.
        why_not: Why there are no layers, or no times of them on both sides; None: there are.
    """

    a_step_flops: float | None
    b_step_flops: float | None
    a_flops: float | None
    b_flops: float | None
    a_ns: float | None
    b_ns: float | None
    cause: WorkCause | None
    layers: tuple[WorkItem, ...]
    why_not: str | None

    @property
    def a_flops_per_s(self) -> float | None:
        """Rate of A in the layers that both sides tell of."""
        return _over(self.a_flops, self.a_ns)

    @property
    def b_flops_per_s(self) -> float | None:
        """Rate of B there."""
        return _over(self.b_flops, self.b_ns)


def join(a: Side, b: Side) -> WorkPair:
    """The work of both sides."""
    found = _in_step(a.runs[0]), _in_step(b.runs[0])
    items = _items(*found, layer_pairs.names(a.runs[0], b.runs[0]))
    of_both = [item for item in items if item.a_flops and item.b_flops and item.a_ns and item.b_ns]
    flops = _sum(of_both, "a_flops"), _sum(of_both, "b_flops")
    times = _sum(of_both, "a_ns"), _sum(of_both, "b_ns")
    return WorkPair(
        found[0].step.flops,
        found[1].step.flops,
        *flops,
        *times,
        _cause(*flops, *times),
        items,
        None if of_both else _why_not(*found),
    )


def _in_step(run: Run) -> Roofline:
    """The layers of a run, over their shares of a step in place of the wall time of their traced kernels."""
    found, step = roofline.of_run(run), overlapped_steps.kernels_of_step(run)
    if step is None:
        return found
    times: dict[_Key, int] = {}
    for part in layer_times.shares(run, *step):
        if part.layer is not None and part.direction is not None:
            key = part.layer, Direction(part.direction)
            times[key] = times.get(key, 0) + part.ns
    rates = (_over_share(rate, times.get((rate.work.layer, rate.work.direction))) for rate in found.layers)
    return replace(found, layers=tuple(rates))


def _over_share(rate: LayerRate, ns: int | None) -> LayerRate:
    """A layer over another time; one whose kernels are not those that do its work has none."""
    if rate.ns is None or not ns:
        return rate if rate.ns is None else replace(rate, ns=None, bound=None, reached=None)
    return replace(rate, ns=float(ns), reached=None if rate.reached is None else rate.reached * rate.ns / ns)


def _items(a: Roofline, b: Roofline, renamed: Mapping[str, str]) -> tuple[WorkItem, ...]:
    sides = _by_key(a.layers, {}), _by_key(b.layers, renamed)
    items = [_item(key, *(side.get(key) for side in sides)) for key in {**sides[0], **sides[1]}]
    return tuple(sorted(items, key=_difference, reverse=True))


def _by_key(rates: Iterable[LayerRate], renamed: Mapping[str, str]) -> dict[_Key, LayerRate]:
    return {(renamed.get(rate.work.layer, rate.work.layer), rate.work.direction): rate for rate in rates}


def _item(key: _Key, a: LayerRate | None, b: LayerRate | None) -> WorkItem:
    layer, direction = key
    kind = next(rate.work.kind for rate in (a, b) if rate is not None)
    flops = a.work.flops if a else None, b.work.flops if b else None
    moved = a.work.bytes if a else None, b.work.bytes if b else None
    times = a.ns if a else None, b.ns if b else None
    return WorkItem(
        layer,
        kind,
        direction,
        *flops,
        *moved,
        *times,
        a.flops_per_s if a else None,
        b.flops_per_s if b else None,
        a.bound if a else None,
        b.bound if b else None,
        a.reached if a else None,
        b.reached if b else None,
        _cause(*(flops if all(flops) else moved), *times),
    )


def _cause(a_work: float | None, b_work: float | None, a_ns: float | None, b_ns: float | None) -> WorkCause | None:
    if not a_work or not b_work or not a_ns or not b_ns:
        return None
    longer = math.log(a_ns / b_ns)
    if abs(longer) < math.log(_ALIKE):
        return WorkCause.ALIKE
    share = math.log(a_work / b_work) / longer
    if share >= _MOST:
        return WorkCause.MORE_WORK
    return WorkCause.LOWER_RATE if share <= 1 - _MOST else WorkCause.BOTH


def _sum(items: Sequence[WorkItem], name: str) -> float | None:
    return sum(getattr(item, name) for item in items) if items else None


def _difference(item: WorkItem) -> tuple[float, float]:
    a, b = item.a_ns or 0, item.b_ns or 0
    return abs(a - b), max(item.a_flops or 0, item.b_flops or 0)


def _over(flops: float | None, ns: float | None) -> float | None:
    return flops / ns * 1e9 if flops is not None and ns else None


def _why_not(a: Roofline, b: Roofline) -> str:
    for name, found in (("A", a), ("B", b)):
        if found.why_not is not None:
            return f"{name}: {found.why_not}"
        if not any(rate.ns for rate in found.layers):
            return f"{name}: no kernel of its layers was traced"
    return "no layer's operations and kernels are known on both sides"
