"""Sums of whole numbers by several keys, over columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlprof.analysis.columns import Integers

_ROOM = 1 << 20
"""Numbers of a larger range are first counted through."""


def sums(keys: Sequence[Integers], amounts: Integers) -> list[tuple[tuple[int, ...], int]]:
    """The sum of the amounts for each combination of keys, in the order in which the combinations first came.

    Args:
        keys: One array for each part of the key.
        amounts: As long as each of them.
    """
    if not len(amounts):
        return []
    order, begins = ordered(keys)
    first = order[begins]
    found = np.add.reduceat(amounts[order], begins)
    came = np.argsort(first)
    columns = [np.asarray(key)[first][came].tolist() for key in keys]
    return list(zip(zip(*columns, strict=True), found[came].tolist(), strict=True))


def ordered(keys: Sequence[Integers]) -> tuple[Integers, Integers]:
    """The rows, those of one combination of keys behind each other in their own order; and where each of them begins.

    Args:
        keys: One array for each part of the key, at least one, with at least one row.
    """
    code = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        number = _counted(np.asarray(key, np.int64))
        code = _counted(code * (int(number.max()) + 1) + number)
    order = np.argsort(code, kind="stable")
    return order, np.flatnonzero(np.diff(code[order], prepend=-1))


def _counted(numbers: Integers) -> Integers:
    """Small numbers, from 0 on, that differ where these do."""
    least = int(numbers.min())
    if int(numbers.max()) - least < _ROOM:
        return numbers - least
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)
