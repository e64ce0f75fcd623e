"""Convolutions that `vmap` over their weights makes ones of many groups: XLA has no fast kernel for these on a CPU.

On two cores, for five shapes of 3 to 8 members, such a convolution took 5 to 11 times as long as the members' one
after the other, and its gradients 9 to 24 times. `lax.map` is no way out: in its loop gradients take as long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart

_TITLE = Title("Convolutions of many groups ran on a slow kernel", "convolutions of many groups")
_GROUPS = re.compile(r"^conv_general_dilated \((\d+) groups\)$")
_SHARE_OF_WORK = 0.10
_SAVES = 0.85
_OWN_GROUPS = r"feature_group_count\s*="
"""Groups that the script asks for may be one for each channel, which nothing else makes faster."""


def claims(case: Case) -> Iterator[Claim]:
    """One, where the script maps over something, and convolutions of groups have much of the steps."""
    conv = Tree.FIT_STEPS / StepPart.KERNELS / Category.CONV
    rows = [row for row in case.kernels.operators.rows if row.category == Category.CONV and row.on_host]
    grouped = {row.op: int(found[1]) for row in rows if (found := _GROUPS.match(row.op or ""))}
    if not grouped:  # no source is searched then
        return
    share = sum(row.total_ns for row in rows if row.op in grouped) / max(1, sum(row.total_ns for row in rows))
    mapped = case.code.written(r"\bvmap\(")
    if share * case.time(conv) < _SHARE_OF_WORK * case.whole_ns or mapped is None or case.code.written(_OWN_GROUPS):
        return
    made = next(iter(case.kernels.line_times(lambda row: row["op"] in grouped)), None)
    count = max(grouped.values())
    yield Claim(
        Sentence(
            f"vmap over weights makes convolutions of {count} groups, for which XLA has no fast kernel on a processor "
            f"({100 * share:.0f} % of the convolutions' time). One member after another they would take less by about"
        ),
        case.takes(conv, share=_SAVES * share),
        [queries.operators(by="layer, op")],
        f"Loop over the members inside the compiled function (a list of weights; mapped at {mapped[0]}:{mapped[1]}): "
        "each convolution is then of one group. In a loop of lax.map or scan gradients are as slow.",
        made or mapped,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix="[step(p, x) for p, x in zip(members, batches)] inside jax.jit, in place of jax.vmap(step)",
    )
