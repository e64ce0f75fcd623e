"""Which rows of a comparison are worth one: those that have a part of the difference; the rest is one row together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
LEAST_SHARE = 0.01
"""Items with a smaller share of all differences together, in both directions, have no row of their own."""


def split(
    items: Sequence[_Item], delta: Callable[[_Item], float], *, full: bool, most: int | None = None, whole: float = 0
) -> tuple[list[_Item], list[_Item]]:
    """Those that have a row, in the order in which they came, and those that are told together.

    Args:
        items: All of them.
        delta: How much one differs.
        full: Each has a row.
        most: Rows at most; None: any number.
        whole: All differences, where these are a part of them; else their own sum, if that is more.
    """
    if full:
        return list(items), []
    least = LEAST_SHARE * max(whole, sum(abs(delta(item)) for item in items))
    rest = [item for item in items if abs(delta(item)) < least]
    shown = [item for item in items if abs(delta(item)) >= least]
    if most is not None:
        shown, rest = shown[:most], [*shown[most:], *rest]
    return (list(items), []) if len(rest) == 1 and most is None else (shown, rest)


def others(count: int) -> str:
    """What the row of those that are told together is called."""
    return f"and {count} other{'s' * (count != 1)}"
