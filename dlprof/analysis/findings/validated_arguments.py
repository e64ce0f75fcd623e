"""Distributions that check all their arguments each time one is made: for debugging, and on unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import full_covariances, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("Arguments of distributions were validated each time", "validating arguments of distributions")
_PATHS = (Tree.FIT_STEPS, Tree.FIT_VALIDATION, Tree.EVALUATE, Tree.PREDICT, Tree.SCRIPT)
_SHARE_OF_WORK = 0.05


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where such checks stand in the stacks for a good part of the work."""
    files = case.engine.validating_files
    if not files or not case.code.samples:
        return

    def checks(sample: Sample) -> bool:
        return any(frame.file.startswith(files) for frame in sample.frames)

    # Checks of a matrix that need not be go with it.
    of_matrices = any(checks(one) and full_covariances.is_in_one(one) for one in case.code.samples)
    is_needless = of_matrices and any(full_covariances.claims(case))

    def validates(sample: Sample) -> bool:
        return checks(sample) and not (is_needless and full_covariances.is_in_one(sample))

    takes = {}
    for path in _PATHS:
        takes.update(case.takes(path, share=case.code.share([path], validates)))
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    yield Claim(
        Sentence("Distributions check all their arguments each time one is made, and what they are asked about:"),
        takes,
        [queries.python_stood(Phase.FIT_STEPS, Phase.FIT_VALIDATION, Phase.SCRIPT)],
        "Switch the validation off for trainings that are not for debugging: call "
        "torch.distributions.Distribution.set_default_validate_args(False), once, before the loop (to assign to it "
        "changes nothing), or pass validate_args=False.",
        case.code.hottest_line(_PATHS, validates, main=True),
        title=_TITLE,
        support=case.code.support(_PATHS, validates, ground=Ground.REPEATED),
        fix="torch.distributions.Distribution.set_default_validate_args(False)",
    )
