"""What came out of an exam: answers, and figures of the rules."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from dlprof.trials.exam.truths import Truth

FALSE_SHARE = 0.05
"""A finding above this share of the wall time, where nothing is wrong, is a false alarm."""


@dataclass(frozen=True)
class Answer:
    """What the diagnosis made of a planted cause.

    Attributes:
        truth: The cause.
        found: Slugs of the findings, ranked; without those of what comes and goes by chance.
        rank: Place of the planted cause, from 1 on; None: it was not found.
        at_stake_ns: Its time at stake, under all names that are right for it: no time is counted twice.
        cost_ns: What it really cost: the fastest faulty run less the fastest clean one; without dlprof's own time, and
            without what comes and goes by chance.
        doubt_ns: By how much the cost may be wrong: the second fastest runs less the fastest; None: one round only.
        line_found: Whether its line was named; None: there is none to name.
        failed: Why a run failed; None: both came to their end.
    """

    truth: Truth
    found: tuple[str, ...] = ()
    rank: int | None = None
    at_stake_ns: int | None = None
    cost_ns: int | None = None
    doubt_ns: int | None = None
    line_found: bool | None = None
    failed: str | None = None

    @property
    def error(self) -> float | None:
        """By how much the time at stake misses the cost, as a share of it."""
        if self.at_stake_ns is None or not self.cost_ns or self.cost_ns <= 0:
            return None
        return self.at_stake_ns / self.cost_ns - 1


@dataclass(frozen=True)
class CleanPair:
    """Two runs of the same thing.

    Attributes:
        name: Which.
        gap_ns: Their difference.
        findings: (slug, share of the wall time) of findings on either side.
        failed: Why a run failed, or None.
    """

    name: str
    gap_ns: int = 0
    findings: tuple[tuple[str, float], ...] = ()
    failed: str | None = None

    @property
    def false_alarm(self) -> bool:
        """Whether something was found above FALSE_SHARE."""
        return any(share > FALSE_SHARE for _, share in self.findings)


@dataclass(frozen=True)
class Result:
    """An exam.

    Attributes:
        spread: By how much the machine's speed varied, from tenth to tenth, as a share; None: not known.
    """

    answers: tuple[Answer, ...]
    pairs: tuple[CleanPair, ...] = field(default=())
    spread: float | None = None


@dataclass(frozen=True)
class Row:
    """Figures of one rule. None: there was no case to take them from.

    Attributes:
        slug: The rule.
        cases: Planted causes of that name that ran.
        first: How many of them were ranked first.
        recall: Share that was found at all.
        precision: Of the findings of that name that were ranked first, the share that was planted.
        rank: Mean rank of those found.
        error: Median of the absolute error of the time at stake, as a share of the cost.
        within: Share of the cases whose time at stake is within 20 % of the cost.
    """

    slug: str
    cases: int
    first: int
    recall: float | None
    precision: float | None
    rank: float | None
    error: float | None
    within: float | None


def rows(result: Result) -> list[Row]:
    """Figures of every rule that was examined or spoke first, and of all together (slug `all`)."""
    ran = [answer for answer in result.answers if not answer.failed]
    slugs = sorted({answer.truth.slug for answer in ran} | {answer.found[0] for answer in ran if answer.found})
    return [*(_row(slug, ran) for slug in slugs), _row(None, ran)]


def _row(slug: str | None, ran: Sequence[Answer]) -> Row:
    own = [answer for answer in ran if slug in (None, answer.truth.slug)]
    spoke = [answer for answer in ran if answer.found and slug in (None, answer.found[0])]
    right = [answer for answer in spoke if answer.found[0] in (answer.truth.slug, *answer.truth.also)]
    ranks = [answer.rank for answer in own if answer.rank]
    errors = [abs(answer.error) for answer in own if answer.error is not None]
    return Row(
        slug=slug or "all",
        cases=len(own),
        first=sum(1 for rank in ranks if rank == 1),
        recall=len(ranks) / len(own) if own else None,
        precision=len(right) / len(spoke) if spoke else None,
        rank=statistics.mean(ranks) if ranks else None,
        error=statistics.median(errors) if errors else None,
        within=sum(1 for error in errors if error <= 0.2) / len(own) if own else None,
    )
