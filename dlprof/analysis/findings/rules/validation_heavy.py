"""Validation takes a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, SpanKind

TITLE = Title("Validation took a large part of the training", "validation")
_SHARE_OF_FIT = 0.15
"""Validation usually takes less of `fit` than this."""


def look(case: Case) -> Iterator[Claim]:
    """Evaluation and prediction inside `fit`: its own, and that of callbacks."""
    case.calls.need_calls()
    calls = _inside_fit(case)
    by_phase = case.phases.of(call.interval for call in calls)
    total, fit = sum(by_phase.values()), case.own(Tree.FIT)
    if not total or total < _SHARE_OF_FIT * fit:
        return
    line = None
    if by_phase.get(Tree.FIT_CALLBACKS):
        line = case.code.hottest_line([Tree.FIT_CALLBACKS], case.code.is_called_back)
    yield Claim(
        Sentence(f"Validation ran {len(calls)} times inside fit and took {100 * total / max(1, fit):.0f} % of it:"),
        case.spread(by_phase),
        [queries.spans(SpanKind.EVALUATE, SpanKind.PREDICT)],
        "Validate on fewer samples, with a larger validation_batch_size, or every few epochs (validation_freq).",
        line or case.training_line,
        support=Support(Ground.PLACE, seen=len(calls), part=total / max(1, fit), usual=_SHARE_OF_FIT / 2),
    )


def _inside_fit(case: Case) -> list[Call]:
    fits = [call.interval for call in case.calls.of(SpanKind.FIT)]
    calls = case.calls.of(SpanKind.EVALUATE, SpanKind.PREDICT)
    return [call for call in calls if any(begin <= call.begin_ns < end for begin, end in fits)]
