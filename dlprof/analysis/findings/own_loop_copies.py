"""Deep copies that the script's own loop makes in its steps: of the weights to keep the best ones, or of data."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import loops
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("The loop made deep copies in its steps", "deep copies in the steps")
_SHARE_OF_WORK = 0.10
_PATHS = (Tree.FIT_STEPS,)
_FILE = "<python>/copy.py"


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where such copies take a good part of the steps: in Python, and in the operators that move the bytes."""
    if loops.are_all_of_keras(case.run):
        return
    takes = case.takes(*_PATHS, share=case.code.share(_PATHS, lambda sample: _copies(case, sample)))
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    yield Claim(
        Sentence("Deep copies are made in the steps of the script's own loop:"),
        takes,
        [queries.python_stood(Phase.FIT_STEPS)],
        "Copy only where the copy is kept (behind the `if` that asks for it), once an epoch or after a validation; of "
        "weights a clone of each tensor is enough.",
        case.code.hottest_line(_PATHS, lambda sample: _copies(case, sample)),
        title=_TITLE,
        support=case.code.support(_PATHS, lambda sample: _copies(case, sample), ground=Ground.REPEATED),
    )


def _copies(case: Case, sample: Sample) -> bool:
    """Whether a line of the script has Python's `copy` make a copy, whoever moves the bytes."""
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return False
        if frame.file == _FILE:
            return True
    return False
