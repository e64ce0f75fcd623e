"""Operations that go on beside the thread that began them, on lanes of their own."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import replace

import numpy as np

from dlprof.ingest.kernels.events import Events, Integers
from dlprof.ingest.kernels.nesting import merge
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget

LANES_AT_MOST = 64
"""More operations do not go on at a time: there are no more threads for them. Those of a damaged file are cut."""


class Beside:
    """Gathers such operations of a host, and puts them on as few lanes as there are of them at a time.

    On the lane of their thread they would reach over what it began later, and nothing that runs within another
    operation could be told from them. What is known of each is when it was begun, until when its call lasted, when
    and on which thread its last part was done. While that thread was within other operations, the last part waited
    for it: so much later the operation is told to have begun.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[tuple[Events, Integers, Integers]] = []
        self._calls: dict[int, list[tuple[Integers, Integers]]] = defaultdict(list)

    def calls(self, thread: int, start: Integers, end: Integers) -> None:
        """Keep when a thread was within operations (ns)."""
        if len(start):
            budget().hold(start.nbytes + end.nbytes, "calls of operations")
            self._calls[thread].append((start, end))

    def add(self, events: Events, called: Integers, thread: Integers) -> None:
        """Keep operations; their lanes are given up.

        Args:
            events: The operations, from their beginning to their end.
            called: Until when the call of each lasted (ns).
            thread: The thread, as in `calls`, on which the last part of each was done.
        """
        if len(events):
            self._found.append((events, called, thread))

    def put(self) -> None:
        """Add all of them to the trace."""
        found, self._found = self._found, []
        calls, self._calls = self._calls, defaultdict(list)
        if not found:
            return
        events = Events.concat([part[0] for part in found])
        called, thread = (np.concatenate([part[at] for part in found]) for at in (1, 2))
        waited = np.zeros(len(events), np.int64)
        for one in np.unique(thread).tolist():
            on = thread == one
            waited[on] = _within(calls.get(one, []), called[on], events.ends[on])
        events = replace(events, start=events.start + waited, dur=events.dur - waited)
        lanes = _lanes(events.start, events.ends)
        numbers = [
            self._trace.lane(("beside", lane), Lane(0, lane, f"asynchronous {lane}"))
            for lane in range(int(lanes.max()) + 1)
        ]
        self._trace.events.add(replace(events, lane=np.asarray(numbers, np.int32)[lanes]))


def _within(calls: list[tuple[Integers, Integers]], start: Integers, end: Integers) -> Integers:
    """For how long a thread was within some of its calls in each interval (ns)."""
    if not calls:
        return np.zeros(len(start), np.int64)
    begins, ends = merge(*(np.concatenate([part[at] for part in calls]) for at in (0, 1)))
    before = np.concatenate(([0], np.cumsum(ends - begins)))

    def until(time: Integers) -> Integers:
        """Time within calls up to a time."""
        at = np.searchsorted(begins, time, "right")
        over = np.where(at > 0, np.maximum(ends[np.maximum(at - 1, 0)] - time, 0), 0)
        return before[at] - over

    return until(end) - until(start)


def _lanes(start: Integers, end: Integers) -> Integers:
    """A lane for each interval, so that no two on a lane overlap."""
    lanes = np.zeros(len(start), np.int64)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    used = 0
    for at in np.argsort(start, kind="stable").tolist():
        while busy and busy[0][0] <= start[at]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = min(used, LANES_AT_MOST - 1), used + 1
        heapq.heappush(busy, (int(end[at]), lane))
        lanes[at] = lane
    return lanes
