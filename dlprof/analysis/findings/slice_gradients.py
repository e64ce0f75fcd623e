"""Slices that are taken of an array one by one: the gradient of each is an array as large as the whole, of zeros.

`x[:, t]` in a loop over `t`: on the way back the engine makes such an array for each slice, and adds all of them up.
`unbind`, `split` and `unstack` take the array apart at once, and their gradient is made once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis import kernels
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_TITLE = Title("Slices were taken of an array one by one", "gradients of single slices")
_GRADIENT = re.compile(
    r"autograd::engine::evaluate_function: (Select|Slice|Narrow)Backward0|StridedSliceGrad"
    r"|_backward_slice(_axis|_like)?"
)
"""Operators of PyTorch, with all that they start, of TensorFlow and of MXNet."""
_FEWEST = 8
"""In a step."""
_SHARE = 0.20
_SAVES = 0.9
_OF_A_COLUMN = r"\[\s*(?::\s*,\s*)+[a-z_]\w*\s*(,[^\]]*)?\]|\[\s*\.\.\.\s*,\s*[a-z_]\w*\s*\]"
_FIX = {
    "torch": "for part in x.unbind(1): ..., in place of x[:, t]",
    "tensorflow": "for part in tf.unstack(x, axis=1): ..., in place of x[:, t]",
    "mxnet": "for part in nd.split(x, n, axis=1, squeeze_axis=True): ..., in place of x[:, t]",
}

_OF_KERAS = "time_distributed"
"""How Keras calls its layer that takes an array apart itself: no line of the script's does, and none would help."""


def claims(case: Case) -> Iterator[Claim]:
    """One, where these gradients have much of the traced time."""
    found = case.kernels.by_layer
    rows = [row for row in found.rows if row.op is not None and _GRADIENT.fullmatch(row.op) and not _of_keras(row)]
    count = sum(row.count for row in rows) / max(1, case.kernels.window_steps)
    share = sum(row.total_ns if row.union_ns is None else row.union_ns for row in rows) / max(1, found.all_ns)
    if count < _FEWEST or share < _SHARE:
        return
    yield Claim(
        Sentence(
            f"Gradients of {count:.0f} slices in a step have {100 * share:.0f} % of the kernels' time: each is an "
            f"array as large as the one that the slice was taken of, and they are added up:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=_SAVES * min(1.0, share)),
        [queries.operators()],
        "Take the array apart once, before the loop: the gradient of all parts is then made at once.",
        case.code.written(_OF_A_COLUMN) or case.code.hottest_line([Tree.FIT_STEPS]),
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=case.kernels.seen_steps, part=share, usual=_SHARE / 2),
        fix=_FIX.get(case.engine.name),
    )


def _of_keras(row: kernels.Row) -> bool:
    return row.layer is not None and row.layer.startswith(_OF_KERAS)
