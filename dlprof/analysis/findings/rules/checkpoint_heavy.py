"""Saving the model takes a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground, SpanKind

TITLE = Title("Saving the model held the training up", "saving the model")
_USUAL = 0.03
"""Share of the wall time that saving takes in most trainings."""


def look(case: Case) -> Iterator[Claim]:
    """Saves that Keras makes, inside fit or beside it."""
    case.calls.need_calls()
    saves = [call for call in case.calls.with_phases(SpanKind.SAVE) if not call.name.startswith("load")]
    if len(saves) < 2:
        return
    mean_ms = sum(call.dur_ns for call in saves) / len(saves) / 1e6
    yield Claim(
        Sentence(f"The model was saved {len(saves)} times, {mean_ms:.0f} ms each:"),
        case.spread(case.phases.of(call.interval for call in saves)),
        [queries.spans(SpanKind.SAVE)],
        "Save less often (ModelCheckpoint(save_freq=...), save_best_only), only weights, or to a faster disk.",
        next((call.line for call in saves if call.line), None),
        support=Support(Ground.PLACE, seen=len(saves), usual=_USUAL),
    )
