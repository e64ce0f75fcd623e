"""What bounds at several moments say of an offset that drifts: all straight lines that pass between them.

A bound holds for the offset of two clocks at one moment. With a drift that is not known a bound says less of other
moments, and an offset that was read off bounds by a drift that noise only seemed to have is wrong without a sign. So
all pairs of offset and drift are asked for that keep every bound: how far they reach is what is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from dlprof.analysis.columns import Floats

MOST_DRIFT = 500e-6
"""A clock that goes faster than another by more is steered by nobody: what Linux lets NTP take out (parts of 1)."""
_ROUNDS = 60
"""A range is cut to two thirds so often: what is left of the drifts are 1e-14 parts of 1."""


@dataclass(frozen=True)
class Bounds:
    """Least and greatest offset of two clocks at some moments, at least one (ns).

    Attributes:
        at: When (ns).
        low: Least offset (ns).
        high: Greatest offset (ns).
    """

    at: Floats
    low: Floats
    high: Floats

    def offsets(self, drift: float, moment: float = 0.0) -> tuple[float, float]:
        """Least and greatest offset at a moment with this drift (ns); the least is the greater one where none fits."""
        since = drift * (self.at - moment)
        return float((self.low - since).max()), float((self.high - since).min())

    @cached_property
    def drifts(self) -> tuple[float, float] | None:
        """Least and greatest drift with which an offset keeps all bounds (parts of 1); None: there is none."""

        def room(drift: float) -> float:
            least, greatest = self.offsets(drift)
            return greatest - least

        best = _summit(room, -MOST_DRIFT, MOST_DRIFT)
        if room(best) < 0:
            return None
        return _edge(room, best, -MOST_DRIFT), _edge(room, best, MOST_DRIFT)

    def farthest(self, offset: float, drift: float, moment: float) -> float:
        """How far from a line the offset may be at a moment, with any drift that keeps the bounds (ns).

        Args:
            offset: The line's offset at 0 (ns).
            drift: Its slope.
            moment: When (ns).

        Where no line keeps all bounds it is the distance to the farther bound, with the line's own slope.
        """
        known = self.drifts
        line = offset + drift * moment
        if known is None:
            return max(abs(bound - line) for bound in self.offsets(drift, moment))
        least = _summit(lambda slope: -self.offsets(slope, moment)[0], *known)
        greatest = _summit(lambda slope: self.offsets(slope, moment)[1], *known)
        return max(line - self.offsets(least, moment)[0], self.offsets(greatest, moment)[1] - line)


def _summit(height: Callable[[float], float], left: float, right: float) -> float:
    """Where a function that rises first and falls then is highest."""
    for _ in range(_ROUNDS):
        third = (right - left) / 3
        if height(left + third) < height(right - third):
            left += third
        else:
            right -= third
    return (left + right) / 2


def _edge(room: Callable[[float], float], inside: float, limit: float) -> float:
    """The last place from inside to a limit where there is room."""
    if room(limit) >= 0:
        return limit
    outside = limit
    for _ in range(_ROUNDS):
        middle = (inside + outside) / 2
        if room(middle) >= 0:
            inside = middle
        else:
            outside = middle
    return inside
