"""Each epoch goes over the same batches several times: it was told to have more steps than there are batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, SpanKind

TITLE = Title("Each epoch went over the same data several times", "going over the same data again in one epoch")
_MOSTLY = 0.9
"""Share of the batches that must lie in arrays which were seen, to speak of all."""
_TIMES = 2.0
"""So often is each batch passed, at least."""
_FEWEST = 32
_SHARE_OF_WORK = 0.05
_MEANT = 0.5
"""That it is meant so cannot be seen: an epoch may be as long as its author wants."""


@of_the_slower
def look(case: Case) -> Iterator[Claim]:
    """Where batches of the first epoch lie in memory: views of arrays that live on, passed again and again."""
    told = [call for call in case.calls.of(SpanKind.FIT) if _times(call.detail.get("passed")) >= _TIMES]
    if not told:
        return
    fit = max(told, key=lambda call: call.dur_ns)
    passed = fit.detail["passed"]
    times, whole = _times(passed), max(1, case.own(Tree.FIT))
    share = min(1.0, fit.dur_ns / whole) * (1 - 1 / times)
    takes = case.takes(Tree.FIT_STEPS, Tree.FIT_INPUT, Tree.FIT_CALLBACKS, Tree.FIT_WAIT, share=share)
    if sum(takes.values()) < _SHARE_OF_WORK * case.whole_ns:
        return
    steps = f"steps_per_epoch={passed['distinct']}"
    yield Claim(
        Sentence(
            f"The first epoch was given {passed['batches']:,} batches, which lie in {passed['distinct']:,} places of "
            f"arrays that do not change place: each about {times:.0f} times. Beyond once that took, in all epochs,"
        ),
        takes,
        [queries.spans(SpanKind.FIT)],
        "Let an epoch have as many steps as there are batches (samples divided by the batch size); for more passes "
        "over the data, more epochs.",
        case.code.line_like(r"\bsteps_per_epoch\s*=") or fit.line or case.training_line,
        support=Support(Ground.REPEATED, seen=passed["batches"], agree=_MEANT),
        fix=f"{steps}: once over the data that the first epoch was given",
    )


def _times(passed: Mapping[str, Any] | None) -> float:
    """How often each place was passed; 0: too little is known."""
    if not passed or passed["batches"] < _FEWEST or passed["views"] < _MOSTLY * passed["batches"]:
        return 0.0
    return float(passed["views"] / max(1, passed["distinct"]))
