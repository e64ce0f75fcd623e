"""Calls of fit, evaluate or predict at one line that do equal work and take longer each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dlprof.analysis.columns import integers
from dlprof.analysis.findings import growth, queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, SpanKind
from dlprof.units import duration

_TITLE = Title("Calls for equal work took longer each time", "calls that take longer each time")
_KINDS = {SpanKind.FIT: Tree.FIT, SpanKind.EVALUATE: Tree.EVALUATE, SpanKind.PREDICT: Tree.PREDICT}
_SHARE_OF_WORK = 0.10
_MOST_APART = 1
"""The first calls build and compile: so many of them are left out."""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One for each kind of call, where the calls of a line grow all along."""
    for kind, path in _KINDS.items():
        calls = _of_one_line(case.calls.of(kind))[_MOST_APART:]
        if not calls or not _equal_work(case, calls):
            continue
        grown = growth.of_few(np.array([call.dur_ns for call in calls], np.int64))
        if grown is None or grown.lost_ns < _SHARE_OF_WORK * case.whole_ns:
            continue
        yield Claim(
            Sentence(
                f"{grown.count} calls of {kind} at one line do equal work and grow from {duration(grown.first_ns)} to "
                f"{duration(grown.last_ns)} each (medians of the first and the last third):"
            ),
            case.takes(path, share=min(1.0, grown.lost_ns / max(1, case.own(path)))),
            [queries.spans(*_KINDS)],
            "See what each call leaves behind: callbacks and data that are added to, models that are kept.",
            calls[0].line,
            title=_TITLE,
            support=Support(Ground.REPEATED, seen=grown.count, agree=grown.rank),
        )


def _of_one_line(calls: Sequence[Call]) -> list[Call]:
    """Those of the line with most time, in their order; those inside of others are part of them."""
    groups: dict[SourceLine, list[Call]] = {}
    for call in sorted(calls, key=lambda one: one.begin_ns):
        if call.line is not None:
            groups.setdefault(call.line, []).append(call)
    return max(groups.values(), key=lambda group: sum(call.dur_ns for call in group), default=[])


def _equal_work(case: Case, calls: Sequence[Call]) -> bool:
    """Whether all have equally many steps, and some."""
    steps = case.run.table("steps", ("loop_id", "count"))
    loops, counts = integers(steps["loop_id"].fill_null(-1)), integers(steps["count"].fill_null(1))
    known, of = np.unique(loops, return_inverse=True)
    sums = dict(zip(known.tolist(), np.bincount(of, counts, len(known)).tolist(), strict=True))
    found = {sums.get(call.number, 0) for call in calls}
    return len(found) == 1 and found != {0}
