"""How far the cost of a cause is from the time that was said to be at stake, by what told the cause."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from dlprof.analysis.findings.stakes import RATIOS
from dlprof.schema.vocabulary import Ground
from dlprof.trials.outside.answers import Answer

_HELD = 0.9
"""Share of the problems that an interval is to hold."""


class OfStakes(Struct, frozen=True):
    """The cost of causes over the time that was told, where one kind of evidence (`Ground`) told them.

    Attributes:
        ground: The kind.
        problems: How many were found by it and have a cost; the held-out ones are left out, to test what is fitted.
        low, high: Between what nine in ten of them are; None: there are none.
        used: The same as it is taken now.
    """

    ground: Ground
    problems: int
    low: float | None
    high: float | None
    used: tuple[float, float]


def of_answers(answers: Sequence[Answer]) -> tuple[OfStakes, ...]:
    """All kinds of evidence, by problems that who writes rules may look at."""
    ratios: dict[Ground, list[float]] = {ground: [] for ground in RATIOS}
    for one in answers:
        ratio = one.cost_over_stake
        if one.right is not None and ratio is not None and not one.truth.held_out:
            ratios[one.right.ground].append(ratio)
    return tuple(_fitted(ground, found) for ground, found in ratios.items())


def _fitted(ground: Ground, ratios: Sequence[float]) -> OfStakes:
    edge = (1 - _HELD) / 2
    low, high = np.quantile(ratios, (edge, 1 - edge)).round(2).tolist() if ratios else (None, None)
    return OfStakes(ground, len(ratios), low, high, RATIOS[ground])
