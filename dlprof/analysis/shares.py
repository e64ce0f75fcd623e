"""Times shared out in whole numbers, so that nothing is lost to rounding."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

_Name = TypeVar("_Name", bound=Hashable)


def proportional(whole: int, weights: Mapping[_Name, int]) -> dict[_Name, int]:
    """`whole` in proportion to the weights, in whole numbers that sum to it; what rounding leaves goes to the largest.

    Empty where all weights are 0.
    """
    total = sum(weights.values())
    if not total:
        return {}
    parts = {name: whole * weight // total for name, weight in weights.items()}
    largest = max(parts, key=lambda name: parts[name])
    parts[largest] += whole - sum(parts.values())
    return parts
