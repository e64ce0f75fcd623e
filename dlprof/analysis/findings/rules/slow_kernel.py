"""An operator of one run takes longer than what the other run computes the same layer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis.compare import LayerItem
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.units import duration

_RATIO = 1.3
"""Layers that take less than this much longer are as good as equal."""
_LAYERS = 6
_SHARE_OF_GAP = 0.02


def look(case: Case) -> Iterator[Claim]:
    """Kernels of the same layer and direction on both sides."""
    if case.against is None:
        raise Abstain("it takes a second run to say that a kernel is slow: dlprof diagnose A B")
    if case.against.unsplit is not None:
        raise Abstain(f"kernels were not seen in both runs: {case.against.unsplit}")
    layers = _by_layer(case.against.layers)
    slower = [one for one in layers if _is_slower(one, case.whole_ns)]
    for one in sorted(slower, key=lambda one: (one.b_ns or 0) - (one.a_ns or 0))[:_LAYERS]:
        yield _claim(case, one)


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


def _claim(case: Case, item: LayerItem) -> Claim:
    a, b = item.a_ns or 0, item.b_ns or 0
    parts = [one for one in case.tree.layers if one.layer == item.layer]
    whole = sum(one.ns for one in parts) or 1
    takes: dict[str, int] = {}
    for one in parts:
        leaf = f"{case.tree.steps}/kernels/{(one.category or 'other').replace(' ', '_')}"
        takes[leaf] = takes.get(leaf, 0) + (a - b) * one.ns // whole
    assert case.against is not None  # noqa: S101
    label = case.against.b.label
    ratio = f"{a / b:.1f} x as long as {label}'s" if b else f"and has no counterpart in {label}"
    theirs = f" ({', '.join(item.b_ops)})" if item.b_ops else ""
    where = f"layer = {_quoted(item.layer)}" if item.layer else "layer IS NULL"
    text = (
        f"{item.layer or 'What belongs to no layer'} takes {duration(a)} in kernels, {ratio}{theirs}, most of all "
        f"{', '.join(item.a_ops[:2]) or 'one kernel'} ({item.direction or 'no direction'})"
    )
    return Claim(
        text.replace("{", "(").replace("}", ")") + ": {time}, {share}.",
        takes,
        [queries.operators(where)],
        "Look for another operator that computes the same, a newer engine, or another layout and batch size.",
    )


def _quoted(text: str | None) -> str:
    return "'" + str(text).replace("'", "''") + "'"
