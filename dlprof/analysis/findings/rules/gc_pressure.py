"""The garbage collector takes a good part of the training: too many objects, or `gc.collect()` again and again."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Abstain, Claim


def look(case: Case) -> Iterator[Claim]:
    """Collections that began in the user's work; those of imports and of building models are left out."""
    if not case.run.table("spans").num_rows:
        raise Abstain("the in-process probe left nothing")
    rows = case.run.rows("gc")
    begin, end = case.training_span
    by_phase = case.by_phase([(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows])
    by_phase = {phase: ns for phase, ns in by_phase.items() if phase.partition("/")[0] in WORK}
    total = sum(by_phase.values())
    if not total:
        return
    inside = [row for row in rows if begin <= row["start_ns"] <= end]
    yield Claim(
        f"The garbage collector ran {len(inside)} times for long while training: {{time}}, {{share}}.",
        case.spread(by_phase),
        [
            (
                "collections of more than 0.2 ms",
                "SELECT generation, count(*) AS count, sum(dur_ns) AS total_ns, max(dur_ns) AS max_ns "
                "FROM gc GROUP BY ALL ORDER BY total_ns DESC",
            )
        ],
        "Make fewer objects that live long, call gc.freeze() before training, raise gc.set_threshold, and leave "
        "gc.collect() out of loops.",
        case.hottest_user_line(tuple(by_phase), case.is_called_back) or case.hottest_user_line(tuple(by_phase)),
    )
