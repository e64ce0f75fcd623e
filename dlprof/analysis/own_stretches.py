"""When events run that nest in their thread, without those that run inside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dlprof.analysis.columns import Integers


def of_events(lane: Integers, start: Integers, end: Integers) -> tuple[Integers, Integers, Integers]:
    """Begin and end of each stretch (ns), and the row of the event that it is of: the innermost one of its thread.

    Args:
        lane: The thread of each event.
        start: When each began (ns).
        end: When it ended (ns).
    """
    order = np.lexsort((-end, start, lane))
    found = np.fromiter((number for stretch in _walk(order, lane, start, end) for number in stretch), np.int64).reshape(
        -1, 3
    )
    return found[:, 0], found[:, 1], found[:, 2]


def _walk(order: Integers, lane: Integers, start: Integers, end: Integers) -> Iterator[tuple[int, int, int]]:
    """The stretches, thread by thread."""
    open_: list[tuple[int, int]] = []
    here, at = None, 0
    rows = zip(order.tolist(), lane[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True)
    for row, thread, begin, close in [*rows, (-1, None, 0, 0)]:
        while open_ and (thread != here or open_[-1][0] <= begin):
            over, event = open_.pop()
            if over > at:
                yield at, over, event
                at = over
        if thread != here:
            here, at = thread, begin
        if open_ and begin > at:
            yield at, begin, open_[-1][1]
        at = max(at, begin)
        open_.append((close, row))
