"""Differences between a few runs of each side: Welch's t, and Holm's correction where many parts are asked at once.

Of three runs a side the bootstrap shows too narrow an interval: there are only ten different means to draw. Student's
distribution is that of means of few values, and Welch's degrees of freedom let the sides spread differently.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlprof.analysis.columns import Floats

LEVEL = 0.05
"""What is called beyond noise would be so by chance in so many of equal versions: intervals are of 95 %."""
_POINTS = 2001
_HALVINGS = 60
_T_MOST = 1e4
"""Beyond any quantile of 95 % with one degree of freedom and more (12.7)."""


def difference_of_means(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """95 % interval of mean(a) - mean(b), and how likely chance alone makes a difference as large.

    Args:
        a: Shape (runs, measures), at least two runs.
        b: Likewise, of the same measures.

    Returns:
        Lower and upper ends, and the two-sided p-values, each of shape (measures,). Runs that are all alike leave no
        doubt: their interval is the difference, and p is 0, or 1 where there is none.
    """
    middle = a.mean(axis=0) - b.mean(axis=0)
    of_means = [table.var(axis=0, ddof=1) / len(table) for table in (a, b)]
    squared = of_means[0] + of_means[1]
    low, high, chance = middle.copy(), middle.copy(), np.where(middle == 0, 1.0, 0.0)
    for n in np.flatnonzero(squared > 0):
        error = float(np.sqrt(squared[n]))
        parts = (float(one[n]) ** 2 / (len(table) - 1) for one, table in zip(of_means, (a, b), strict=True))
        freedom = float(squared[n]) ** 2 / sum(parts)
        reach = _quantile(freedom) * error
        low[n], high[n] = middle[n] - reach, middle[n] + reach
        chance[n] = two_sided(abs(float(middle[n])) / error, freedom)
    return low, high, chance


def two_sided(t: float, freedom: float) -> float:
    """Probability that Student's t is farther from 0 than this, on either side.

    With t = sqrt(freedom) tan(angle) it is the share of the integral of cos(angle)^(freedom - 1) that lies beyond.
    """
    begin = float(np.arctan(t / np.sqrt(freedom)))
    beyond, whole = (_integral(angle, freedom) for angle in (begin, 0.0))
    return min(1.0, beyond / whole)


def holm(chances: Sequence[float]) -> list[bool]:
    """Which of several differences are beyond noise, where one false alarm among all shall be as rare as of one.

    Args:
        chances: The p-value of each.
    """
    found = [False] * len(chances)
    for rank, place in enumerate(sorted(range(len(chances)), key=lambda n: chances[n])):
        if chances[place] > LEVEL / (len(chances) - rank):
            break
        found[place] = True
    return found


def _integral(begin: float, freedom: float) -> float:
    """Of cos^(freedom - 1) from an angle to a right one."""
    angles = np.linspace(begin, np.pi / 2, _POINTS)
    values = np.cos(angles).clip(0) ** (freedom - 1)
    return float(((values[1:] + values[:-1]) / 2).sum() * (angles[1] - angles[0]))


def _quantile(freedom: float) -> float:
    """What t exceeds, on either side, in 5 % of all cases."""
    low, high = 0.0, _T_MOST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided(middle, freedom) > LEVEL else (low, middle)
    return high
