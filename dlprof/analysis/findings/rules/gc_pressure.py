"""The garbage collector takes a good part of the training: too many objects, or `gc.collect()` again and again."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence
from dlprof.analysis.findings.title import Title

TITLE = Title("Python's garbage collector interrupted the training", "Python's garbage collector")
_COLLECTIONS = Query(
    "collections of more than 0.2 ms",
    "SELECT generation, count(*) AS count, sum(dur_ns) AS total_ns, max(dur_ns) AS max_ns "
    "FROM gc GROUP BY ALL ORDER BY total_ns DESC",
)


def look(case: Case) -> Iterator[Claim]:
    """Collections that began in the user's work; those of imports and of building models are left out."""
    case.calls.need_calls()
    rows = case.run.rows("gc")
    by_phase = case.phases.of((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows)
    by_phase = {phase: ns for phase, ns in by_phase.items() if any(top.holds(phase) for top in WORK)}
    if not sum(by_phase.values()):
        return
    begin, end = case.phases.training_span
    inside = [row for row in rows if begin <= row["start_ns"] <= end]
    phases = tuple(by_phase)
    yield Claim(
        Sentence(f"The garbage collector ran {len(inside)} times for long while training:"),
        case.spread(by_phase),
        [_COLLECTIONS],
        "Make fewer objects that live long, call gc.freeze() before training, raise gc.set_threshold, and leave "
        "gc.collect() out of loops.",
        case.code.hottest_line(phases, case.code.is_called_back) or case.code.hottest_line(phases),
    )
