"""Medians and percentiles of more numbers than there is memory for, exact: they are read a few times, and counted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dlprof.analysis.columns import Floats, Integers

PASSES = 4
"""How often the numbers are read: each time sixteen more bits of what is looked for are known."""
_BITS = 16
_SIZE = 1 << _BITS
_FEW = 4096
"""Up to so many numbers are kept as they are: counting them would take longer."""
_SIGN = np.uint64(1 << 63)
Keys = npt.NDArray[np.uint64]


class Search:
    """Looks for the numbers at some places of the ordered whole.

    Every number is added in each of `PASSES` passes, which end with `narrow`.

    Args:
        places: From 0 on; each number stands at as many places as its weight says.
    """

    def __init__(self, places: Iterable[int]) -> None:
        self._found = dict.fromkeys(places, (0, 0))  # leading bits of the number, and weight of those below it
        self._passes = 0
        self._counts: dict[int, Floats] = {}
        self._few: dict[int, tuple[Integers, Integers]] = {}

    def add(self, numbers: Floats, weights: Integers) -> None:
        """Some of the numbers, and how often each counts."""
        keys = _keys(numbers)
        for prefix in {prefix for prefix, _ in self._found.values()}:
            inside = keys >> np.uint64(64 - _BITS * self._passes) == prefix if self._passes else slice(None)
            part = (keys[inside] >> np.uint64(64 - _BITS * (self._passes + 1))) & np.uint64(_SIZE - 1)
            self._keep(prefix, part.astype(np.int64), weights[inside])

    def _keep(self, prefix: int, part: Integers, weights: Integers) -> None:
        """Keep the next bits of some numbers: as they are while they are few, else counted."""
        before = self._few.pop(prefix, None)
        if before is not None:
            part, weights = np.concatenate((before[0], part)), np.concatenate((before[1], weights))
        known = self._counts.get(prefix)
        if known is None and len(part) <= _FEW:
            self._few[prefix] = part, weights
            return
        counts = np.bincount(part, weights=weights, minlength=_SIZE).astype(np.float64)
        self._counts[prefix] = counts if known is None else known + counts

    def narrow(self) -> None:
        """A pass has ended."""
        until = {prefix: np.cumsum(counts) for prefix, counts in self._counts.items()}
        for place, (prefix, below) in self._found.items():
            if prefix in self._few:
                part, before = _among(*self._few[prefix], place - below)
            else:
                part = int(np.searchsorted(until[prefix], place - below, side="right"))
                before = int(until[prefix][part - 1]) if part else 0
            self._found[place] = (prefix << _BITS | part, below + before)
        self._passes, self._counts, self._few = self._passes + 1, {}, {}

    def at(self, place: int) -> float:
        """The number at a place, after all passes."""
        return _number(self._found[place][0])


def _among(parts: Integers, weights: Integers, place: int) -> tuple[int, int]:
    """The part at a place of some numbers, and the weight of all below it."""
    order = np.argsort(parts, kind="stable")
    until = np.cumsum(weights[order])
    part = parts[order[np.searchsorted(until, place, side="right")]]
    return int(part), int(weights[parts < part].sum())


def places_of(share: float, count: int) -> tuple[int, int]:
    """Between which places a quantile lies.

    Args:
        share: Of the numbers that are below it: 0.5 for the median.
        count: How many numbers there are, at least one.
    """
    below = int(share * (count - 1))
    return below, min(below + 1, count - 1)


def quantile(search: Search, share: float, count: int) -> float:
    """A quantile by linear interpolation, to the last bit as `numpy.percentile` has it."""
    low, high = (search.at(place) for place in places_of(share, count))
    return between(low, high, share, count)


def between(low: float, high: float, share: float, count: int) -> float:
    """A quantile, by the numbers at its places (`places_of`)."""
    part = share * (count - 1) - places_of(share, count)[0]
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def _keys(numbers: Floats) -> Keys:
    """Whole numbers in the order of some floats."""
    bits = np.ascontiguousarray(numbers, np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _number(key: int) -> float:
    bits = key & ~(1 << 63) if key >> 63 else ~key & ((1 << 64) - 1)
    return float(np.array([bits], np.uint64).view(np.float64)[0])
