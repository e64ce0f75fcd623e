"""Arrays are turned around between operators: another layout in memory would need no transposes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import heavy_weights, kernel_shares, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Remedy, Sentence, Support
from dlprof.analysis.findings.kernel_shares import name
from dlprof.analysis.findings.title import Title
from dlprof.analysis.kernels import Row
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Category, Ground

TITLE = Title("Operators only transposed arrays", "transposing arrays")
_TURNS = re.compile(
    r"transpose(?!d?_?conv)|permute|Reorder|SwapAxis|DimShuffle|reorder|contiguous|ToMkl|MklToTf|nchwToNhwc|nhwcToNchw",
    re.IGNORECASE,
)
_NOT = re.compile(r"conv\w*transpose|TransposeTimes|backward_transpose_conv", re.IGNORECASE)
_COMPUTES = re.compile(r"gemm|cutlass|convolve|conv\d?d(?!.*transpos)|attention", re.IGNORECASE)
"""Kernels of products and convolutions may have transposed operands in the names of their templates."""
_SHARE = 0.05
_SHARE_OF_KERNELS = 0.05
"""On a device that is idle for other reasons the kernels alone are looked at."""
_KERNELS = Query(
    "kernels that turn arrays around",
    "SELECT name, op, layer, count(*) AS count, sum(dur_ns) AS total_ns FROM kernels WHERE kind = 'kernel' AND "
    "regexp_matches(lower(name || coalesce(op, '')), 'transpose|permute|nchwtonhwc|nhwctonchw|contiguous') "
    "GROUP BY ALL ORDER BY total_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Operators that only turn arrays around."""
    if not case.tree.layers:
        raise Abstain("no kernel of the steps was traced")
    if case.devices.times and case.other is None:
        yield from _of_devices(case)
        return
    turning = [kernel for kernel in case.tree.layers if _turns(kernel.op)]
    theirs = case.other.tree.layers if case.other is not None else ()
    total = sum(kernel.ns for kernel in turning) - sum(kernel.ns for kernel in theirs if _turns(kernel.op))
    if total < _SHARE * max(1, case.own(Tree.FIT_STEPS) + case.own(Tree.PREDICT_STEPS)):
        return
    leaves = heavy_weights.by_leaf(case, turning)
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
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps),
    )


def _of_devices(case: Case) -> Iterator[Claim]:
    """Kernels of devices tell by their own names: a convolution may turn its input around by itself."""
    turning = kernel_shares.chosen(case, _is_turning)
    takes = turning.takes(case, 1.0)
    if sum(takes.values()) < _SHARE * max(1, sum(case.own(root) for root in case.devices.roots)) and (
        turning.share < _SHARE_OF_KERNELS
    ):
        return
    worst = turning.rows[0]
    around = f" ({worst.op})" if worst.op and worst.op != name(worst) else ""
    yield Claim(
        Sentence(
            f"{100 * turning.share:.0f} % of the kernels' time goes to kernels that turn arrays around, most of all "
            f"{name(worst)[:60]}{around}:"
        ),
        takes,
        [_KERNELS],
        "Keep one order of axes through the model; give images in the layout that the backend computes in.",
        remedy=_remedy(case),
        support=Support(Ground.PLACE, part=turning.share, usual=_SHARE_OF_KERNELS),
    )


def _is_turning(row: Row) -> bool:
    """By its own name: one that is of another operator's may be any of the kernels that this runs."""
    return _turns(name(row)) and not _COMPUTES.search(name(row))


def _turns(op: str | None) -> bool:
    return bool(op and _TURNS.search(op) and not _NOT.search(op))


def _remedy(case: Case) -> Remedy | None:
    """The other layout, where images go through convolutions."""
    layout = case.training.settings.get("layout") if case.training else None
    if not layout or not any(kernel.category == Category.CONV for kernel in case.tree.layers):
        return None
    turned = "channels_first" if layout == "channels_last" else "channels_last"
    return Remedy(f"image layout {turned}", {}, {"layout": turned})
