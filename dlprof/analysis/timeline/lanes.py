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
    return Lanes().deal(start, end)


class Lanes:
    """Lanes onto which slices are dealt piece by piece; no piece begins before what the one before it dealt last."""

    def __init__(self) -> None:
        self._open: list[list[int]] = []  # ends of the open slices of each lane, the outermost first

    def deal(self, start: Integers, end: Integers) -> list[Integers]:
        """The next slices: as `lanes` has it, also for lanes that have none of them."""
        order = np.lexsort((-end, start))
        begins, ends = start[order], end[order]
        if self._are_apart(begins, ends):
            return [order, *(np.empty(0, np.int64) for _ in self._open[1:])]
        lane_of = np.zeros(len(order), np.int64)
        for position, (begin, until) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
            lane_of[position] = _lane(self._open, begin, until)
        return [order[lane_of == number] for number in range(len(self._open))]

    def _are_apart(self, begins: Integers, ends: Integers) -> bool:
        """Whether no slice touches another, as most steps and samples do not; then all are on the first lane."""
        if not len(begins) or (begins[1:] < np.maximum.accumulate(ends)[:-1]).any():
            return False
        if any(lane and lane[0] > begins[0] for lane in self._open):
            return False
        self._open = [[int(ends[-1])], *([] for _ in self._open[1:])]
        return True


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
