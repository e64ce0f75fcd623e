"""Arrays are turned around between operators: another layout in memory would need no transposes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy

_TURNS = re.compile(
    r"transpose(?!d?_?conv)|permute|Reorder|SwapAxis|DimShuffle|reorder|contiguous|ToMkl|MklToTf", re.IGNORECASE
)
_NOT = re.compile(r"conv\w*transpose|TransposeTimes|backward_transpose_conv", re.IGNORECASE)
_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Operators that only turn arrays around."""
    if not case.tree.layers:
        raise Abstain("no kernel of the steps was traced")
    turning = [one for one in case.tree.layers if _turns(one.op)]
    theirs = case.other.tree.layers if case.other is not None else ()
    spent = sum(one.ns for one in theirs if _turns(one.op))
    total = sum(one.ns for one in turning) - spent
    if total < _SHARE * max(1, case.own("fit/steps") + case.own("predict/steps")):
        return
    by_category: dict[str, int] = {}
    for one in turning:
        leaf = case.tree.kernels_leaf(one.category)
        by_category[leaf] = by_category.get(leaf, 0) + one.ns
    whole = sum(by_category.values())
    worst = max(turning, key=lambda one: one.ns)
    convolves = any(one.category == "conv" for one in case.tree.layers)
    layout = case.training.settings.get("layout") if case.training else None
    remedy = None
    if convolves and layout:
        turned = "channels_first" if layout == "channels_last" else "channels_last"
        remedy = Remedy(f"image layout {turned}", {}, {"layout": turned})
    yield Claim(
        f"{worst.op} and its kin only turn arrays around, most of all in {worst.layer or 'no known layer'} "
        f"({worst.direction or 'direction not known'}): {{time}}, {{share}}.",
        {leaf: ns * total // max(1, whole) for leaf, ns in by_category.items()},
        [queries.operators("category = 'data movement'")],
        "Keep one order of axes through the model; give images in the layout that the backend computes in.",
        remedy=remedy,
    )


def _turns(op: str | None) -> bool:
    return bool(op and _TURNS.search(op) and not _NOT.search(op))
