"""Operations that go on beside the thread that began them, on lanes of their own."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from dlprof.ingest.kernels.events import Events, Integers
from dlprof.ingest.kernels.trace import Lane, Trace

LANES_AT_MOST = 64
"""More operations do not go on at a time: there are no more threads for them. Those of a damaged file are cut."""


class Beside:
    """Gathers such operations of a host, and puts them on as few lanes as there are of them at a time.

    On the lane of their thread they would reach over what it began later, and nothing that runs within another
    operation could be told from them.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[Events] = []

    def add(self, events: Events) -> None:
        """Keep operations; their lanes are given up."""
        if len(events):
            self._found.append(events)

    def put(self) -> None:
        """Add all of them to the trace."""
        if not self._found:
            return
        events, self._found = Events.concat(self._found), []
        lanes = _lanes(events.start, events.ends)
        numbers = [
            self._trace.lane(("beside", lane), Lane(0, lane, f"asynchronous {lane}"))
            for lane in range(int(lanes.max()) + 1)
        ]
        self._trace.events.add(replace(events, lane=np.asarray(numbers, np.int32)[lanes]))


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
