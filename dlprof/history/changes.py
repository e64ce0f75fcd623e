"""Where a series of measurements changes its level: PELT (Killick, Fearnhead and Eckley 2012), by the package ruptures.

The medians of commits are divided by their own standard error, as the repeats tell it, so that the penalty of a change,
3 ln(n) of squared standard errors (the modified BIC of Zhang and Siegmund), does not depend on the measure. A change is
told if it is as large as `least` of the level before, too.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.errors import UnavailableError

METHOD = "PELT, squared error, in standard errors of the medians, penalty 3 ln(n)"
_LEAST_ERROR = 0.005
"""The standard error of a median is at least this share of it: a few runs that happen to agree prove little."""
_OF_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, of normal errors."""
_MAD = 1.4826
"""Standard deviation over the median absolute deviation, of normal errors."""
_RANKS = 1.645
"""Standard errors of a rank sum that chance exceeds once in 20 times: three runs against three must lie apart."""
_CLEAR, _CLEAR_OF_FEW = 2.0, 7.0
"""How many standard errors lie between medians: of runs that are too few for ranks as many as so few ask for."""


@dataclass(frozen=True)
class Change:
    """A change of the level.

    Attributes:
        index: The first measured commit of the new level.
        before, after: The levels: medians of the medians of their commits.
        beyond_noise: Whether the runs of both levels lie apart.
    """

    index: int
    before: float
    after: float
    beyond_noise: bool

    @property
    def share(self) -> float:
        """By how much it changed, as a share of what it was."""
        return self.after / self.before - 1


def need_ruptures() -> Any:
    """The package.

    Raises:
        UnavailableError: It is not installed.
    """
    try:
        return importlib.import_module("ruptures")
    except ModuleNotFoundError as error:
        if error.name != "ruptures":
            raise  # it is installed, and lacks something itself
        raise UnavailableError("dlprof history needs ruptures.", hint="pip install 'dlprof[history]'") from None


def find(values: Sequence[Sequence[float]], least: float) -> list[Change]:
    """Changes of a measure from commit to commit.

    Args:
        values: For each commit what was measured, at least once, in the order of commits.
        least: Changes by a smaller share are not told.
    """
    if len(values) < 2:
        return []
    medians = [statistics.median(one) for one in values]
    error = standard_error(values)
    scaled = [[median / error] for median in medians]
    model = need_ruptures().Pelt(model="l2", min_size=1, jump=1).fit(_array(scaled))
    ends = model.predict(pen=3 * math.log(len(values)))
    starts = [0, *ends[:-1]]
    ranges = list(zip(starts, ends, strict=True))
    levels = [statistics.median(medians[begin:end]) for begin, end in ranges]
    runs = [[one for commit in values[begin:end] for one in commit] for begin, end in ranges]
    found = [
        Change(ranges[n][0], levels[n - 1], levels[n], is_beyond_noise(runs[n - 1], runs[n]))
        for n in range(1, len(ranges))
    ]
    return [one for one in found if one.before > 0 and abs(one.share) >= least]


def is_beyond_noise(before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether the runs of two levels lie apart: by their ranks (Mann and Whitney), and medians by their errors.

    Ranks of few runs tell nothing, however far these lie apart: then medians must differ by many times their error.
    """
    n, m = len(before), len(after)
    if n + m < 4:
        return False  # of so few runs nobody knows how far they differ
    pairs = sum((one > other) + (one == other) / 2 for one in after for other in before)
    far = max(pairs, n * m - pairs)
    middles = statistics.median(before), statistics.median(after)
    squares = sum((n_runs - 1) * statistics.variance(runs) for n_runs, runs in ((n, before), (m, after)) if n_runs > 1)
    error = _OF_MEDIAN * math.sqrt(squares / (n + m - 2) * (1 / n + 1 / m))
    apart = abs(middles[1] - middles[0]) / max(error, _LEAST_ERROR * abs(middles[0]), 1e-300)
    if _rank_errors(n * m, n, m) < _RANKS:
        return far == n * m and apart > _CLEAR_OF_FEW
    return _rank_errors(far, n, m) >= _RANKS and apart > _CLEAR


def _rank_errors(pairs: float, n: int, m: int) -> float:
    """How many standard errors so many pairs in one direction are from half of them (corrected for continuity)."""
    return (pairs - n * m / 2 - 0.5) / math.sqrt(n * m * (n + m + 1) / 12)


def standard_error(values: Sequence[Sequence[float]]) -> float:
    """The standard error of a commit's median: from repeats of commits, else from the differences of neighbours."""
    medians = [statistics.median(one) for one in values]
    floor = max(_LEAST_ERROR * abs(statistics.median(medians)), 1e-300)
    repeated = [one for one in values if len(one) > 1]
    if repeated:
        count = statistics.median(len(one) for one in values)
        spread = math.sqrt(statistics.mean(statistics.variance(one) for one in repeated))
        return max(floor, _OF_MEDIAN * spread / math.sqrt(count))
    steps = [abs(one - other) for one, other in zip(medians[1:], medians, strict=False)]
    return max(floor, _MAD * statistics.median(steps) / math.sqrt(2))


def _array(rows: Sequence[Sequence[float]]) -> Any:
    import numpy as np  # noqa: PLC0415  (with ruptures alone)

    return np.array(rows)
