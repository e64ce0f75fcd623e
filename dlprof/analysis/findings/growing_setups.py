"""Each new model takes longer to set up than the one before: what earlier ones left behind is gone through again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dlprof.analysis.findings import growth, made_anew, queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground, SpanKind
from dlprof.units import duration

_TITLE = Title("Each new model took longer to set up", "models that take longer to set up each time")
_KINDS = (SpanKind.COMPILE, SpanKind.CONSTRUCT)
_WORK = (*_KINDS, SpanKind.GRAPH_COMPILE, SpanKind.BUILD, SpanKind.FIRST_RUN)
_SHARE_OF_WORK = 0.05


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where a line sets models up again and again, and the time of each setup grows."""
    setups = made_anew.of_one_line(case.calls.with_phases(*_KINDS))
    times = _times(setups, case.calls.with_phases(*_WORK))
    grown = growth.of_few(np.array(times, np.int64))
    if grown is None or grown.lost_ns < _SHARE_OF_WORK * case.whole_ns:
        return
    begin = setups[0].begin_ns
    after = [call for call in case.calls.with_phases(*_WORK) if call.begin_ns >= begin]
    by_leaf = case.spread(case.phases.of(made_anew.joined([call.interval for call in after])))
    share = grown.lost_ns / max(1, sum(by_leaf.values()))
    yield Claim(
        Sentence(
            f"{grown.count} models were made at one line, one after another, and each takes longer to set up than the "
            f"one before: {duration(grown.first_ns)} the first ones, {duration(grown.last_ns)} the last ones (medians "
            "of thirds);"
        ),
        {leaf: int(ns * min(1.0, share)) for leaf, ns in by_leaf.items()},
        [queries.spans(*_WORK)],
        "Have the engine forget the models that are done before the next one is made.",
        setups[0].line,
        title=_TITLE,
        support=Support(Ground.REPEATED, seen=grown.count, agree=grown.rank),
        fix="keras.backend.clear_session() at the beginning of each turn, before the model is made",
    )


def _times(setups: Sequence[Call], work: Sequence[Call]) -> list[int]:
    """What setting up took, from each setup to the next one (ns)."""
    if not setups:
        return []
    begins = [call.begin_ns for call in setups]
    times = [0] * len(begins)
    for begin, end in made_anew.joined([call.interval for call in work if call.begin_ns >= begins[0]]):
        times[int(np.searchsorted(begins, begin, "right")) - 1] += end - begin
    return times
