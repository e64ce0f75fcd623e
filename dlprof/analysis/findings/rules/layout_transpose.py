"""Arrays are turned around between operators: another layout in memory would need no transposes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Category, Tree, TreePath

TITLE = Title("Operators only transposed arrays", "transposing arrays")
_TURNS = re.compile(
    r"transpose(?!d?_?conv)|permute|Reorder|SwapAxis|DimShuffle|reorder|contiguous|ToMkl|MklToTf", re.IGNORECASE
)
_NOT = re.compile(r"conv\w*transpose|TransposeTimes|backward_transpose_conv", re.IGNORECASE)
_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Operators that only turn arrays around."""
    if not case.tree.layers:
        raise Abstain("no kernel of the steps was traced")
    turning = [kernel for kernel in case.tree.layers if _turns(kernel.op)]
    theirs = case.other.tree.layers if case.other is not None else ()
    total = sum(kernel.ns for kernel in turning) - sum(kernel.ns for kernel in theirs if _turns(kernel.op))
    if total < _SHARE * max(1, case.own(Tree.FIT_STEPS) + case.own(Tree.PREDICT_STEPS)):
        return
    leaves: dict[TreePath, int] = {}
    for kernel in turning:
        leaf = case.tree.kernels_leaf(kernel.category)
        leaves[leaf] = leaves.get(leaf, 0) + kernel.ns
    whole = max(1, sum(leaves.values()))
    worst = max(turning, key=lambda kernel: kernel.ns)
    yield Claim(
        Sentence(
            f"{worst.op} and its kin only turn arrays around, most of all in {worst.layer or 'no known layer'} "
            f"({worst.direction or 'direction not known'}):"
        ),
        {leaf: ns * total // whole for leaf, ns in leaves.items()},
        [queries.operators(f"category = '{Category.DATA_MOVEMENT}'")],
        "Keep one order of axes through the model; give images in the layout that the backend computes in.",
        remedy=_remedy(case),
    )


def _turns(op: str | None) -> bool:
    return bool(op and _TURNS.search(op) and not _NOT.search(op))


def _remedy(case: Case) -> Remedy | None:
    """The other layout, where images go through convolutions."""
    layout = case.training.settings.get("layout") if case.training else None
    if not layout or not any(kernel.category == Category.CONV for kernel in case.tree.layers):
        return None
    turned = "channels_first" if layout == "channels_last" else "channels_last"
    return Remedy(f"image layout {turned}", {}, {"layout": turned})
