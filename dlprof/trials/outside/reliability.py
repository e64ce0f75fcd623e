"""Whether findings are as often right as they say: by confidence, how many of those that a truth judges were right."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dlprof.analysis.findings.confidence import PRIORS
from dlprof.schema.vocabulary import Ground
from dlprof.trials.outside.answers import Answer, Said

EDGES = (0.0, 0.5, 0.7, 0.85, 1.0)
"""Where the ranges of confidence begin and end. Below the second a finding is told as a question."""
_SUREST = 0.97
"""No finding is surer than that, however often its like was right so far."""


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


class OfGround(Struct, frozen=True):
    """Findings whose cause is told by one kind of evidence (`Ground`).

    Attributes:
        ground: The kind.
        findings: How many of them a truth judges, the held-out problems left out: those are to test what was fitted.
        right: How many of these were right.
        strength: Sum of their confidences, as it would be were that kind of evidence never wrong.
        prior: How likely it has to be taken that such a finding is right, with all the rest in its favour, so that as
            many of them are right as they say; one more that was right and one that was not are added.
        used: The same as it is taken now.
    """

    ground: Ground
    findings: int
    right: int
    strength: float
    prior: float
    used: float


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


def of_grounds(answers: Sequence[Answer]) -> tuple[OfGround, ...]:
    """All kinds of evidence, by problems that who writes rules may look at; what was compared, by their pairs."""
    known = [one for one in answers if not one.failed and not one.truth.held_out]
    pairs = (pair for one in known for pair in one.judged_in_pair if pair[0].ground is Ground.COMPARED)
    return fitted(itertools.chain((pair for one in known for pair in one.judged), pairs))


def fitted(judged: Iterable[tuple[Said, bool]]) -> tuple[OfGround, ...]:
    """The same from findings, each with whether it was right."""
    found: dict[Ground, list[tuple[float, bool]]] = {ground: [] for ground in PRIORS}
    for said, right in judged:
        found[said.ground].append((said.confidence / PRIORS[said.ground], right))
    return tuple(_of_ground(ground, pairs) for ground, pairs in found.items())


def _of_ground(ground: Ground, pairs: Sequence[tuple[float, bool]]) -> OfGround:
    right, strength = sum(right for _, right in pairs), sum(strength for strength, _ in pairs)
    prior = min(_SUREST, (right + 1) / (strength + 2))
    return OfGround(ground, len(pairs), right, round(strength, 2), round(prior, 2), PRIORS[ground])
