"""A large matrix that is mostly zeros is written out, and products are made with all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Ground, StepPart

TITLE = Title("A matrix of zeros was multiplied in full", "multiplying a matrix that is mostly zeros")
_OF_KERNELS = 0.3
"""Products' share of the kernels' time; that it is with this matrix, no engine tells."""
_SAVES = 0.7
_WRITTEN = 0.8
_USUAL = 0.5
"""Products have so much of most models: that is why it is a question where no product with the matrix is written."""
_TOLD = Query(
    "large matrices at hand, as the loop's facts tell them (training.zeros)",
    "SELECT name, file, line, detail FROM spans WHERE kind = 'fit'",
)
_FIX = {
    "torch": "m = m.to_sparse_csr(), then torch.sparse.mm(m, x)",
    "tensorflow": "m = tf.sparse.from_dense(m), then tf.sparse.sparse_dense_matmul(m, x)",
    "mxnet": "m = m.tostype('csr'), then nd.sparse.dot(m, x)",
    "jax": "m = jax.experimental.sparse.BCSR.fromdense(m), then m @ x; or jax.ops.segment_sum over its entries",
}


def look(case: Case) -> Iterator[Claim]:
    """The products of the steps, where the largest such matrix is one of a million numbers and more."""
    found = case.training.zeros if case.training else ()
    if not found:
        raise Abstain("no large matrix of zeros was seen in a loop of the script's own")
    if case.pair or not case.tree.layers:
        raise Abstain("no kernel of the steps was traced")
    whole = sum(kernel.ns for kernel in case.tree.layers)
    share = sum(kernel.ns for kernel in case.tree.layers if kernel.category == Category.MATMUL) / max(1, whole)
    if share < _OF_KERNELS:
        return
    worst = max(found, key=lambda one: prod(one.shape))
    line = case.code.line_like(_product_with(worst.name.rpartition(".")[2]))
    kernels = Tree.FIT_STEPS if case.asynchronous else Tree.FIT_STEPS / StepPart.KERNELS
    yield Claim(
        Sentence(
            f"{worst.name} ({' x '.join(f'{length:,}' for length in worst.shape)}) is written out, of which "
            f"{100 * worst.zeros:.1f} % are zeros, and products have {100 * share:.0f} % of the kernels' time:"
        ),
        case.takes(kernels, share=_SAVES * share),
        [_TOLD],
        "If it is multiplied in the steps, keep it as a sparse matrix: only what is not zero is then worked on.",
        line or case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, agree=1 - _WRITTEN, part=share, usual=_USUAL)
        if line is None
        else Support(Ground.STATED, agree=_WRITTEN),
        fix=_FIX.get(case.engine.name),
    )


def _product_with(name: str) -> str:
    """A regular expression for a line that multiplies a matrix of that name."""
    word = rf"\b{re.escape(name)}\b"
    return rf"\b(mm|matmul|dot|einsum|addmm|bmm|tensordot)\(.*{word}|{word}\s*@|@\s*(\w+\.)*{word}"
