"""An operator of one run takes longer than what the other run computes the same layer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.analysis.layer_pairs import LayerItem
from dlprof.units import duration

_RATIO = 1.3
"""Layers that take less than this much longer are as good as equal."""
_OPERATORS = 4
_SHARE_OF_GAP = 0.02


def look(case: Case) -> Iterator[Claim]:
    """Kernels of the same layer and direction on both sides."""
    if case.against is None:
        raise Abstain("it takes a second run to say that a kernel is slow: dlprof diagnose A B")
    if case.against.unsplit is not None:
        raise Abstain(f"kernels were not seen in both runs: {case.against.unsplit}")
    slower = [one for one in _by_layer(case.against.layers) if _is_slower(one, case.whole_ns)]
    groups: dict[str, list[LayerItem]] = {}
    for one in sorted(slower, key=lambda one: (one.b_ns or 0) - (one.a_ns or 0)):
        groups.setdefault(one.a_ops[0] if one.a_ops else "", []).append(one)
    for group in list(groups.values())[:_OPERATORS]:
        yield _claim(case, group)


def _by_layer(items: Sequence[LayerItem]) -> list[LayerItem]:
    """Both directions of a layer as one, named by the direction that differs most; kernels of no layer as well."""
    groups: dict[str | None, list[LayerItem]] = {}
    for item in items:
        groups.setdefault(item.layer, []).append(item)
    found = []
    for layer, group in groups.items():
        worst = max(group, key=lambda one: (one.a_ns or 0) - (one.b_ns or 0))
        times = [sum(getattr(one, name) or 0 for one in group) for name in ("a_ns", "b_ns")]
        found.append(LayerItem(layer, worst.direction, times[0], times[1] or None, worst.a_ops, worst.b_ops))
    return found


def _is_slower(item: LayerItem, gap_ns: int) -> bool:
    a, b = item.a_ns or 0, item.b_ns or 0
    return a - b > _SHARE_OF_GAP * gap_ns and a > _RATIO * b


def _claim(case: Case, items: Sequence[LayerItem]) -> Claim:
    """Layers in which the same operator takes most of the time; the worst comes first."""
    worst, layers = items[0], {item.layer for item in items}
    a, b = (sum(getattr(item, name) or 0 for item in items) for name in ("a_ns", "b_ns"))
    parts = [one for one in case.tree.layers if one.layer in layers]
    whole = sum(one.ns for one in parts) or 1
    takes: dict[str, int] = {}
    for one in parts:
        leaf = case.tree.kernels_leaf(one.category)
        takes[leaf] = takes.get(leaf, 0) + (a - b) * one.ns // whole
    assert case.against is not None  # noqa: S101
    label = case.against.b.label
    ratio = f"{a / b:.1f} x as long as {label}'s" if b else f"and has no counterpart in {label}"
    theirs = f" ({', '.join(worst.b_ops)})" if worst.b_ops else ""
    if worst.layer is None:  # what the two runs have outside of layers need not be the same
        ratio, theirs = f"where {label} spends {duration(b)} outside of layers", ""
    names = ", ".join(item.layer or "what belongs to no layer" for item in items[:3])
    more = f" and {len(items) - 3} more layers" if len(items) > 3 else ""
    text = (
        f"{worst.a_ops[0] if worst.a_ops else 'A kernel'} and what goes with it in {names}{more} takes {duration(a)}, "
        f"{ratio}{theirs}, most of all {worst.direction or 'in no known direction'}"
    )
    named = ", ".join(_quoted(layer) for layer in layers if layer)
    where = f"layer IN ({named})" if named else "layer IS NULL"
    return Claim(
        text.replace("{", "(").replace("}", ")") + ": {time}, {share}.",
        takes,
        [queries.operators(where)],
        "Look for another operator that computes the same, a newer engine, or another layout and batch size.",
    )


def _quoted(text: str | None) -> str:
    return "'" + str(text).replace("'", "''") + "'"
