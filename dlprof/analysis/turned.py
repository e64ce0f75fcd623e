"""A comparison from its other side: what was A is B."""

from __future__ import annotations

from dataclasses import replace

from dlprof.analysis import parity
from dlprof.analysis.compare import Comparison, Item, doubts_of, have_one_engine, with_more_steps
from dlprof.analysis.layer_pairs import LayerItem

_Interval = tuple[int, int] | None


def turned(found: Comparison) -> Comparison:
    """The comparison of B with A, without measuring anything again."""
    items = [_item(item) for item in found.items]
    counts = {loop: (b, a) for loop, (a, b) in found.steps.items()}
    return replace(
        found,
        a=found.b,
        b=found.a,
        parity=parity.check(found.b.runs[0], found.a.runs[0]),
        a_wall_ns=found.b_wall_ns,
        b_wall_ns=found.a_wall_ns,
        gap_ns=-found.gap_ns,
        gap_ci_ns=_negative(found.gap_ci_ns),
        items=tuple(with_more_steps(items, counts, by_part=have_one_engine(found.b, found.a))),
        steps=counts,
        unattributed_ns=-found.unattributed_ns,
        layers=tuple(_layer(item) for item in found.layers),
        a_step_ns=found.b_step_ns,
        b_step_ns=found.a_step_ns,
        common=1 / found.common,
        doubts=doubts_of(found.b, found.a, -found.gap_ns, noise=found.noise),
    )


def _item(item: Item) -> Item:
    return replace(item, a_ns=item.b_ns, b_ns=item.a_ns, ci_ns=_negative(item.ci_ns))


def _layer(item: LayerItem) -> LayerItem:
    return replace(item, a_ns=item.b_ns, b_ns=item.a_ns, a_ops=item.b_ops, b_ops=item.a_ops)


def _negative(interval: _Interval) -> _Interval:
    return None if interval is None else (-interval[1], -interval[0])
