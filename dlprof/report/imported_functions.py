"""Foreign traces of Python functions, which are no operators: what they are called, and what they took in all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from dlprof.report.model import Report
from dlprof.schema import trace_marks
from dlprof.schema.vocabulary import EventKind

FUNCTION, IMPORT = "Python function", "import"
_SUMS = {"cprofile": FUNCTION, "importtime": IMPORT}
"""Formats whose sums are no operators, and what they are."""
_MIXED = "chrome"
"""The format whose operators may be anything: their names tell."""
_MOST = 0.5


def of_sums(report: Report) -> str | None:
    """What all sums of a run are; None: work of a device or operators."""
    nouns = {_SUMS.get(source.format) for source in report.sources}
    return next(iter(nouns)) if len(nouns) == 1 else None


def noun(report: Report, kind: str) -> str:
    """What work of a kind is called: `operator`, or `Python function` where names say so of most of their time."""
    if kind != EventKind.OPERATOR.word or report.kernels is None or not report.imported:
        return kind
    if sums := of_sums(report):
        return sums
    rows = [row for row in report.kernels.rows if row.kind == kind]
    placed = sum(row.total_ns for row in rows if row.op and trace_marks.is_function(row.op))
    are_mixed = {source.format for source in report.sources} <= {_MIXED}
    return FUNCTION if are_mixed and placed > _MOST * sum(row.total_ns for row in rows) else kind


def with_callees(report: Report) -> Sequence[tuple[str, int]]:
    """Functions of the user's with the time of all that they called, the longest first: name and time (ns)."""
    found = [one for source in report.sources for one in _own(source.facts)]
    return sorted(found, key=lambda one: -one[1])


def _own(facts: str | None) -> list[tuple[str, int]]:
    told: Any = json.loads(facts or "{}")
    return [(str(one["function"]), int(one["total_ns"])) for one in told.get("own_with_callees") or ()]
