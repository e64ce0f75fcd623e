"""Causes of a single run where two are compared: those of the slower one that the other one has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

Claims = Callable[[Case], Iterable[Claim]]


def of_the_slower(claims: Claims) -> Callable[[Case], Iterator[Claim]]:
    """Of a pair only what the other run has not: what both have is not why they differ.

    What may be claimed in a pair is what the slower run spends more (`Case.takes`), so the claims need not know of it.
    """

    @wraps(claims)
    def look(case: Case) -> Iterator[Claim]:
        if case.other is None or not _has(claims, case.other):
            yield from claims(case)

    return look


def _has(claims: Claims, case: Case) -> bool:
    try:
        return any(True for _ in claims(case))
    except Abstain:
        return False


def had_cores(case: Case) -> float:
    """How far the slower run had the cores that the other one had, while they trained: 0 to 1; 1: not known.

    What the threads waited for a core is in every part, and what is left of a part then tells little.
    """
    if case.other is None:
        return 1.0
    return min(1.0, case.machine.with_a_core / max(0.01, case.other.machine.with_a_core))
