"""Python of the script's that other threads run while the main one waits: handlers of a server, a pool, a queue.

Phases are of the main thread, and its wait says nothing of what it waits for. Where nothing is trained nobody else
tells it. Threads take turns in Python, so what several of them do adds up to the time of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dlprof.analysis.findings import chores, doing, queries, standing
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Phase

_TITLE = Title("The script's own Python took long on other threads", "Python code of the script on other threads")
_SCRIPT = (Tree.SCRIPT, Tree.DATA)
_SHARE_OF_WORK = 0.15
_USUAL = 0.05
_OF_PYTHON = ("<python>/", "<frozen")
"""What waits there, or is on its way, is no Python of the script's."""
_NEXT = (
    "Threads take turns in Python, and more of them do not help: make that line cheaper (whole arrays, a library in C, "
    "what it made for an equal input), or let several processes do it."
)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where such threads work for a good part of the time in which the main one does not."""
    stood = standing.of_phases(case, _SCRIPT)
    if stood is None:
        return
    runs = _runs(case)
    beside = 1 - stood.share - stood.ran
    share = min(beside, case.code.share(_SCRIPT, runs, main=False))
    takes = case.takes(*_SCRIPT, share=max(0.0, share))
    if sum(takes.values()) < _SHARE_OF_WORK * sum(case.own(top) for top in WORK):
        return
    line = case.code.hottest_line(_SCRIPT, runs, main=False)
    chore = chores.of_line(case, line, _SCRIPT, runs)
    yield Claim(
        Sentence("Other threads run Python of the script's while its main thread waits:"),
        takes,
        [queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        chore.advised(case, line) if chore and line else _NEXT,
        line,
        title=_TITLE,
        support=case.code.support(_SCRIPT, runs, main=False, agree=min(1.0, share / max(beside, share)), usual=_USUAL),
        fix=chore.fix if chore else None,
    )


def _runs(case: Case) -> Callable[[Sample], bool]:
    """Tells whether a stack of another thread stands in the script's own Python, or in a library that it called."""
    engines = combined.folders_with_keras()

    def runs(sample: Sample) -> bool:
        frame, inner = case.code.user_frame(sample), sample.frames[0]
        if frame is None or doing.waits_for_another(sample.frames) or inner.file.startswith((*engines, *_OF_PYTHON)):
            return False
        return frame is not inner or not doing.sleeps(case.code.source(frame.file, frame.line))

    return runs
