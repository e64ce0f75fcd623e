"""Callbacks take a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import measures_waits
from dlprof.schema.vocabulary import Phase, Tree

TITLE = Title("Callbacks held the training up", "callbacks")
_SHARE_OF_FIT = 0.05
_BY_EPOCH = Query(
    "callbacks by epoch",
    "SELECT loop, epoch + 1 AS epoch, count(*) AS steps, sum(callbacks_ns) AS callbacks_ns, sum(dur_ns) AS steps_ns "
    "FROM steps GROUP BY ALL ORDER BY callbacks_ns DESC NULLS LAST LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """All that callbacks take and no other rule explains better."""
    total = _time(case)
    if total < _SHARE_OF_FIT * max(1, case.own(Tree.FIT)):
        return
    line = case.code.hottest_line([Tree.FIT_CALLBACKS], case.code.is_called_back)
    function = _function(case, line)
    yield Claim(
        Sentence(f"Callbacks{f', most of all {function},' if function else ''} hold the training up:"),
        case.takes(Tree.FIT_CALLBACKS, share=total / max(1, case.own(Tree.FIT_CALLBACKS))),
        [_BY_EPOCH, queries.python_stood(Phase.FIT_CALLBACKS, Phase.FIT_STEPS)],
        case.code.counting_note(line)
        + "Do that work once an epoch instead of at each batch, on fewer values, or on another thread.",
        line,
    )


def _time(case: Case) -> int:
    """Time of callbacks that is their own (ns)."""
    total = case.own(Tree.FIT_CALLBACKS)
    if not case.asynchronous or measures_waits(case.run) or not case.code.samples:
        return total
    # Where waits are not told apart, Keras' own callbacks wait for the device: no fault of theirs.
    users = case.code.share([Tree.FIT_CALLBACKS], case.code.is_called_back)
    return min(total, int(users * case.phases.host(Phase.FIT_CALLBACKS)))


def _function(case: Case, line: SourceLine | None) -> str | None:
    """The function that a line is in, as the samples have it."""
    frames = (frame for sample in case.code.samples for frame in sample.frames)
    return next((f"{frame.function} in {frame.file}" for frame in frames if (frame.file, frame.line) == line), None)
