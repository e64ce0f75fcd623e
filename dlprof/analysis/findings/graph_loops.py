"""A loop that runs inside of a TensorFlow graph, such as `tf.map_fn`: each turn starts all its small operators anew.

The operators in its body are mostly too cheap to be traced. What is seen are those that take its arrays apart and put
its results together, and steps with hardly anything else in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import EDGES
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_TITLE = Title("A loop ran inside of the graph, turn by turn", "turns of a loop in the graph")
_OF_LOOPS = re.compile(r"TensorList(FromTensor|Stack|SetItem|GetItem|PushBack|PopBack)|(Stateless)?While")
_WRITTEN = r"\btf\.(map_fn|scan|foldl|foldr|while_loop)\(|\bfor\s+\w+\s+in\s+tf\.range\("
_MOST_KERNELS = 0.5
"""Of the steps; where kernels have more, the turns have enough to do."""
_SHARE = 0.10
_SAVES = 0.8
_BETWEEN = (StepPart.DISPATCH, StepPart.HOST_PYTHON, StepPart.IDLE, EDGES)


def claims(case: Case) -> Iterator[Claim]:
    """One, where such a loop is written, ran in the steps, and kernels have little of these."""
    if case.pair or case.steps is None or case.tree.unsplit is not None or case.engine.name != "tensorflow":
        return
    found = [kernel for kernel in case.tree.layers if kernel.op and _OF_LOOPS.fullmatch(kernel.op)]
    line = case.code.written(_WRITTEN)
    own = case.own(case.steps / StepPart.KERNELS)
    takes = case.takes(*(case.steps / part for part in _BETWEEN), share=_SAVES)
    between = sum(takes.values())
    if not found or line is None or own > _MOST_KERNELS * (own + between) or between < _SHARE * case.whole_ns:
        return
    part = between / max(1, own + between)
    yield Claim(
        Sentence(
            f"A loop in the graph ({case.code.source(*line).strip()[:60]}) ran in the steps, and {100 * part:.0f} % of "
            "their time is outside of the kernels that TensorFlow tells of:"
        ),
        takes,
        [queries.operators()],
        "Work on all rows at once: operators take a whole batch (matmul, einsum, gather with batch_dims), and what "
        "differs by row is masked; tf.vectorized_map makes such operators of a function of one row.",
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=case.kernels.seen_steps),
        fix="tf.vectorized_map(f, rows) in place of tf.map_fn(f, rows), where f has no loop of its own",
    )
