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


@dataclass(frozen=True)
class Change:
    """A change of the level.

    Attributes:
        index: The first measured commit of the new level.
        before, after: Means of the levels.
    """

    index: int
    before: float
    after: float

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
    levels = [statistics.mean(medians[begin:end]) for begin, end in zip(starts, ends, strict=True)]
    found = [Change(start, before, after) for start, before, after in zip(starts[1:], levels, levels[1:], strict=False)]
    return [one for one in found if one.before > 0 and abs(one.share) >= least]


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
