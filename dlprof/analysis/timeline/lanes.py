"""Lanes on which slices either nest or do not touch: what viewers can draw, and count without loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dlprof.analysis.columns import Integers


def lanes(start: Integers, end: Integers) -> list[Integers]:
    """Deal slices out to as few lanes as it takes in order of their starts.

    Args:
        start: Start of each slice.
        end: End of each, not before its start.

    Returns:
        The slices of each lane by their positions: by start, those around others before them. Slices that
        overlap in part stand on different lanes; the first lane has all, where none do.
    """
    order = np.lexsort((-end, start))
    lane_of = np.zeros(len(order), np.int64)
    open_: list[list[int]] = []  # ends of the open slices of each lane, the outermost first
    for position, (begin, until) in enumerate(zip(start[order].tolist(), end[order].tolist(), strict=True)):
        lane_of[position] = _lane(open_, begin, until)
    return [order[lane_of == number] for number in range(len(open_))]


def _lane(open_: list[list[int]], begin: int, until: int) -> int:
    """The first lane in which a slice fits; it is open there from now on."""
    for number, ends in enumerate(open_):
        while ends and ends[-1] <= begin:
            ends.pop()
        if not ends or until <= ends[-1]:
            ends.append(until)
            return number
    open_.append([until])
    return len(open_) - 1


def closings(start: Integers, end: Integers) -> Iterator[tuple[int, list[int]]]:
    """Each slice of one lane with the ends of those that close before it begins, the innermost first.

    The slices come in the order that `lanes` gives; after the last one, position -1 comes with all that is open.
    """
    open_: list[int] = []
    for position, (begin, until) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        closed = []
        while open_ and open_[-1] <= begin:
            closed.append(open_.pop())
        yield position, closed
        open_.append(until)
    yield -1, open_[::-1]
