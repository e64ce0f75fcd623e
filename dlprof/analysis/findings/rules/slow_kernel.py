"""An operator of one run takes longer than what the other run computes the same layer with."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.compare import LayerItem
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

_RATIO = 1.3
"""Layers that take less than this much longer are as good as equal."""
_LAYERS = 4
_SHARE_OF_GAP = 0.02


def look(case: Case) -> Iterator[Claim]:
    """Kernels of the same layer and direction on both sides."""
    if case.against is None:
        raise Abstain("it takes a second run to say that a kernel is slow: dlprof diagnose A B")
    if case.against.unsplit is not None:
        raise Abstain(f"kernels were not seen in both runs: {case.against.unsplit}")
    slower = [one for one in case.against.layers if _is_slower(one, case.whole_ns)]
    for one in slower[:_LAYERS]:
        yield _claim(case, one)


def _is_slower(item: LayerItem, gap_ns: int) -> bool:
    a, b = item.a_ns or 0, item.b_ns or 0
    return a - b > _SHARE_OF_GAP * gap_ns and a > _RATIO * b


def _claim(case: Case, item: LayerItem) -> Claim:
    a, b = item.a_ns or 0, item.b_ns or 0
    names = [one for one in case.tree.layers if (one.layer, one.direction) == (item.layer, item.direction)]
    whole = sum(one.ns for one in names) or 1
    takes: dict[str, int] = {}
    for one in names:
        leaf = f"{case.tree.steps}/kernels/{(one.category or 'other').replace(' ', '_')}"
        takes[leaf] = takes.get(leaf, 0) + (a - b) * one.ns // whole
    ratio = f"{a / b:.1f} x as long as" if b else "and has no counterpart in"
    layer = item.layer or "outside all layers"
    theirs = f" ({', '.join(item.b_ops)})" if item.b_ops else ""
    assert case.against is not None  # noqa: S101
    return Claim(
        f"{', '.join(item.a_ops[:2]) or 'The kernel'} of {layer} ({item.direction or 'no direction'}) takes "
        f"{a / 1e6:.0f} ms, {ratio} {case.against.b.label}'s{theirs}: {{time}}, {{share}}.".replace("{'", "("),
        takes,
        [
            (
                "kernels of the layer in this run",
                "SELECT op, category, count(*) AS count, sum(self_ns) AS total_ns FROM kernels WHERE layer "
                + (f"= {_quoted(item.layer)}" if item.layer else "IS NULL")
                + (f" AND direction = {_quoted(item.direction)}" if item.direction else " AND direction IS NULL")
                + " GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
            )
        ],
        "Look for another operator that computes the same, a newer engine, or another layout and batch size.",
    )


def _quoted(text: str | None) -> str:
    return "'" + str(text).replace("'", "''") + "'"
