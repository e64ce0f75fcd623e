"""Whether findings are as often right as they say: by confidence, how many of those that a truth judges were right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dlprof.trials.outside.answers import Answer, Said

EDGES = (0.0, 0.5, 0.7, 0.85, 1.0)
"""Where the ranges of confidence begin and end. Below the second a finding is told as a question."""


class Bin(Struct, frozen=True):
    """Findings of one range of confidence.

    Attributes:
        low, high: From, and up to, which confidence; the last range holds 1, too.
        findings: How many of them a truth judges (`Answer.judged`).
        said: Their mean confidence; None: there are none.
        right: Share of them that was right; None: there are none.
    """

    low: float
    high: float
    findings: int
    said: float | None
    right: float | None


def of_answers(answers: Sequence[Answer]) -> tuple[Bin, ...]:
    """All ranges, also those without findings."""
    return of_judged(pair for answer in answers if not answer.failed for pair in answer.judged)


def of_judged(judged: Iterable[tuple[Said, bool]]) -> tuple[Bin, ...]:
    """The same from findings, each with whether it was right."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in EDGES[1:]]
    for said, right in judged:
        number = sum(said.confidence >= edge for edge in EDGES[1:-1])
        bins[number].append((said.confidence, right))
    return tuple(
        Bin(low, high, len(found), _mean([sure for sure, _ in found]), _mean([float(right) for _, right in found]))
        for low, high, found in zip(EDGES, EDGES[1:], bins, strict=False)
    )


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 3) if values else None
