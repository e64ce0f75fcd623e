"""Arrays of an engine that a loop of the script's own goes through, or indexes lists with, element by element.

Each element is an array of its own, which the engine makes, and as an index is brought to the host: that takes a
thousand times as long as for an array of NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import loops, source_loops
from dlprof.analysis.findings import queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample, is_of_input
from dlprof.analysis.stacks import Frame
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("Elements of an array were taken one by one", "taking elements of an array one by one")
_INDEX, _ITERATES = "__index__", frozenset({"__iter__", "_chunk_iter"})
"""What Python calls of an array for its elements, and what JAX answers with: parts of the full names of functions."""
_SHARE_OF_STEPS = 0.20
_SHARE_OF_WORK = 0.15
_PATHS = (Tree.FIT_STEPS, Tree.EVALUATE, Tree.PREDICT, Tree.SCRIPT)
_BY_ENGINE = {
    "jax": "indices = np.asarray(indices), once, before they are used one by one",
    "tensorflow": "indices = indices.numpy(), once, before they are used one by one",
    "mxnet": "indices = indices.asnumpy(), once, before they are used one by one",
    "torch": "indices = indices.tolist(), once, before they are used one by one",
}


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where that takes a good part of the steps."""
    if loops.are_all_of_keras(case.run) or not case.code.samples:
        return

    def chosen(sample: Sample) -> bool:
        return takes_elements(case, sample)

    shares = {path: case.code.share([path], chosen) for path in _PATHS}
    takes = {}
    for path, share in shares.items():
        if share >= _SHARE_OF_STEPS:
            quiet = standing.QUIET_STEPS if path == Tree.FIT_STEPS else ()
            takes.update(case.filled(share * case.own(path), *quiet, path))
    if not takes or sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    yield Claim(
        Sentence("The script takes an array of the engine apart, or uses it as indices, one element at a time:"),
        takes,
        [queries.python_stood(Phase.FIT_STEPS, Phase.EVALUATE, Phase.PREDICT, Phase.SCRIPT)],
        "Bring the whole array to the host once, as an array of NumPy or a list, and go through that; or do the same "
        "with one operation on the whole array.",
        case.code.hottest_line(_PATHS, chosen),
        title=_TITLE,
        support=case.code.support(_PATHS, chosen, ground=Ground.REPEATED),
        fix=_BY_ENGINE.get(case.backend),
    )


def takes_elements(case: Case, sample: Sample) -> bool:
    """Whether a line of the script's stands in a call for an element of an array of an engine.

    `key, sub = split(key)` takes two, and is no loop over them; a loader is asked for its iterator in the same way.
    """
    if is_of_input(sample):
        return False
    above = None
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            if above is None or not above.file.startswith(combined.folders()):
                return False
            asked = set(above.function.split("."))
            return _INDEX in asked or (not _ITERATES.isdisjoint(asked) and _is_loop(case, frame))
        above = frame
    return False


def _is_loop(case: Case, frame: Frame) -> bool:
    source = case.code.source(frame.file, frame.line)
    return not source or source_loops.has_for(source)
