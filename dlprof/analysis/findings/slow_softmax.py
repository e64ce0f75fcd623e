"""Softmax that takes far longer forward than back: over an axis that is not the last, an engine may have a slow kernel.

Both ways read and write the same array. MXNet 1.9 took 0.5 ms forward and 1.3 back for a softmax over the last axis,
and 11.2 and 1.4 over the one before it (64 x 200 x 96 numbers, one kernel window each, two cores).

An axis that is not the last must be written somewhere, or a softmax whose axis the source does not tell: a loss has one
of its own over its last axis. Threads that wait for cores make an operator that waits for all of them take as long.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Direction, Ground, StepPart

_TITLE = Title("Softmax took far longer forward than back", "softmax over an axis that is not the last")
_FAR = 4.0
"""Times as long forward as back; 0.4 (MXNet) and 1.0 (PyTorch) were seen over the last axis."""
_SHARE = 0.15
"""Share of the kernels' time."""
_CONTENDED = 0.15
"""Share of their runnable time for which threads waited for a core, from which on that may be why an operator waits."""
_NAMED = re.compile(r"^(?!.*(output|cross|loss|activation)).*softmax", re.IGNORECASE)
"""Not together with a loss: its way back is a difference, whatever the way there takes."""
_OTHER_AXIS = r"softmax\([^#\n]*\b(axis|dim)\s*=\s*(?!-1\b)-?\d"
_WRITTEN = r"[sS]oftmax\((?![^#\n]*\b(axis|dim)\s*=\s*-1\b)"
"""Over an axis that may be another than the last."""
_SURELY = r"softmax\([^#\n]*\b(axis|dim)\s*=\s*(0\b|-[2-9])"
"""Over one that is another; 1 is the last of a matrix."""
_BY_DEFAULT_LAST = ("mxnet",)
"""Engines that take the last axis unless told: who writes 1 mostly means another."""


def claims(case: Case) -> Iterator[Claim]:
    """One, where that has much of the kernels' time."""
    found = case.kernels.by_layer
    times: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for row in found.rows:
        if _NAMED.match(row.op or "") and row.direction in (Direction.FORWARD, Direction.BACKWARD):
            times[row.layer][row.direction == Direction.BACKWARD] += row.total_ns
    slow = {layer: ns for layer, ns in times.items() if 0 < _FAR * ns[1] <= ns[0]}
    there, back = (sum(ns[way] for ns in slow.values()) for way in (0, 1))
    share = there / max(1, found.all_ns)
    if not slow or share < _SHARE:
        return
    layer = max(slow, key=lambda name: slow[name][0])
    other = case.code.written(_OTHER_AXIS)
    line = other or case.code.written(_WRITTEN)
    if line is None or 1 - case.machine.with_a_core >= _CONTENDED:
        return
    is_sure = other is not None and (case.backend in _BY_DEFAULT_LAST or case.code.written(_SURELY) is not None)
    yield Claim(
        Sentence(
            f"Softmax{f' in {layer}' if layer else ''} takes {there / back:.0f} times as long forward as back, where "
            f"no longer is usual, and has {100 * share:.0f} % of the kernels' time:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=(there - back) / max(1, found.all_ns)),
        [queries.operators()],
        "Over an axis that is not the last of its array it goes through memory in leaps, by a kernel without vectors: "
        "transpose first, so that the axis is the last and lies together, and see what softmax takes then.",
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.kernels.seen_steps, agree=1.0 if is_sure else 0.5),
        fix="softmax(x.transpose(...), axis=-1), with the axis as the last one",
    )
