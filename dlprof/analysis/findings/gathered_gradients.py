"""Rows that are gathered by their numbers as `x[numbers]`: PyTorch adds their gradients up one after the other.

The way back of advanced indexing is `index_put_(accumulate=True)`, which has an order to keep; that of `index_select`,
and of an embedding, adds rows up with all threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

_TITLE = Title("Rows were gathered by advanced indexing", "gradients of rows that were gathered")
_GRADIENT = "autograd::engine::evaluate_function: IndexBackward0"
_SHARE = 0.15
_SAVES = 0.8
"""An estimate: rows are added up by the other ways, too. In the one pair of runs there is, 2.1 of 3.8 s are told so."""
_GATHERS = re.compile(r"[\w\])]\[[A-Za-z_]\w*\]")
"""One name in brackets behind what is indexed."""


def claims(case: Case) -> Iterator[Claim]:
    """One, where these gradients have much of the traced time."""
    found = case.kernels.by_layer
    rows = [row for row in found.rows if row.op == _GRADIENT]
    share = sum(row.total_ns if row.union_ns is None else row.union_ns for row in rows) / max(1, found.all_ns)
    if share < _SHARE:
        return
    yield Claim(
        Sentence(f"Gradients of rows that are gathered as x[numbers] have {100 * share:.0f} % of the kernels' time:"),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=_SAVES * min(1.0, share)),
        [queries.operators()],
        "Gather them with x.index_select(0, numbers), or torch.nn.functional.embedding(numbers, x): the gradient of "
        "advanced indexing (index_put_) is added up row after row, on one thread.",
        _line(case),
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.PLACE, seen=case.kernels.seen_steps, part=share, usual=_SHARE / 2),
        fix="x.index_select(0, numbers) in place of x[numbers]",
    )


def _line(case: Case) -> SourceLine | None:
    """The line that gathers for longest: what it calls is C++, which leaves no frame."""

    def gathers(sample: Sample) -> bool:
        frame = sample.frames[0]
        return frame.file in case.code.user_files and bool(_GATHERS.search(case.code.source(frame.file, frame.line)))

    return case.code.hottest_line([Tree.FIT_STEPS], gathers, main=True)
