"""Convolutions of several groups, for which XLA has no fast kernel on a CPU.

There are two sorts. `vmap` over weights makes one of many groups out of a convolution: on two cores, for five shapes of
3 to 8 members, it took 5 to 11 times as long as the members' one after the other, and its gradients 9 to 24 times.
`lax.map` is no way out: in its loop gradients take as long. And of a grouped convolution that the script asks for the
gradient of the weights is computed as if each group went with all others: for nine shapes of 2 to 32 groups forward and
back took 13 to 106 times as long as with a convolution for each group, whose results are joined. Of one group for each
channel only those that make one channel out of each are spared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart

_MAPPED_TITLE = Title("Convolutions of many groups ran on a slow kernel", "convolutions of many groups")
_OWN_TITLE = Title("Gradients of grouped convolutions ran on a slow kernel", "gradients of grouped convolutions")
_GROUPS = re.compile(r"^conv_general_dilated \((\d+) groups\)$")
_GRADIENT = "conv_general_dilated (gradient of groups)"
_SHARE_OF_WORK = 0.10
_MAPPED_SAVES = 0.85
_OWN_SAVES = 0.95
_OWN_GROUPS = r"\b(feature_group_count|groups)\s*=|\bDepthwiseConv"
"""How a script asks for groups itself."""
_OWN_FIX = "jnp.concatenate([conv(a, w) for a, w in zip(jnp.split(x, groups, -1), jnp.split(weights, groups, -1))], -1)"
_KERAS_FIX = "Concatenate()([Conv2D(filters // groups, size)(part) for part in keras.ops.split(x, groups, axis=-1)])"
_CONV = Tree.FIT_STEPS / StepPart.KERNELS / Category.CONV


def claims(case: Case) -> Iterator[Claim]:
    """One, where such convolutions have much of the steps."""
    rows = [row for row in case.kernels.operators.rows if row.category == Category.CONV and row.on_host]
    grouped = {row.op: int(found[1]) for row in rows if (found := _GROUPS.match(row.op or ""))}
    gradient = {row.op for row in rows if row.op == _GRADIENT}
    if not grouped and not gradient:  # no source is searched then
        return
    asked = case.code.written(_OWN_GROUPS)
    mapped = None if asked is not None else case.code.written(r"\bvmap\(")
    slow = gradient if mapped is None else {*grouped, *gradient}
    share = sum(row.total_ns for row in rows if row.op in slow) / max(1, sum(row.total_ns for row in rows))
    if share * case.time(_CONV) < _SHARE_OF_WORK * case.whole_ns:
        return
    made = next(iter(case.kernels.line_times(lambda row: row["op"] in slow)), None)
    if mapped is not None:
        yield _of_mapped(case, share, max(grouped.values(), default=0), mapped, made or mapped)
    else:
        yield _of_own(case, share, asked or made)


def _of_mapped(case: Case, share: float, count: int, mapped: SourceLine, line: SourceLine) -> Claim:
    of = f"of {count} groups" if count else "of groups"
    return Claim(
        Sentence(
            f"vmap over weights makes convolutions {of}, for which XLA has no fast kernel on a processor "
            f"({100 * share:.0f} % of the convolutions' time). One member after another they would take less by about"
        ),
        case.takes(_CONV, share=_MAPPED_SAVES * share),
        [queries.operators(by="layer, op")],
        f"Loop over the members inside the compiled function (a list of weights; mapped at {mapped[0]}:{mapped[1]}): "
        "each convolution is then of one group. In a loop of lax.map or scan gradients are as slow.",
        line,
        title=_MAPPED_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix="[step(p, x) for p, x in zip(members, batches)] inside jax.jit, in place of jax.vmap(step)",
    )


def _of_own(case: Case, share: float, line: SourceLine | None) -> Claim:
    return Claim(
        Sentence(
            "On a processor XLA computes the gradient of a grouped convolution's weights as if each group went with "
            f"all others ({100 * share:.0f} % of the convolutions' time). With a convolution for each group they "
            "would take less by about"
        ),
        case.takes(_CONV, share=_OWN_SAVES * share),
        [queries.operators(by="layer, op")],
        "Split the channels, give each group a convolution of its own, and join the results: the same numbers, 13 to "
        "106 times as fast forward and back, for nine shapes. Of one group for each channel (depthwise) only those "
        "that make several channels out of each are so slow: as several that make one each they are not.",
        line,
        title=_OWN_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix=_OWN_FIX if case.run.manifest.keras is None else _KERAS_FIX,
    )
