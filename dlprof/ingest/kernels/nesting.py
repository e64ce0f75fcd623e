"""What runs inside what: depths and parents of events that lie in lanes, without a Python loop over them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers

DEPTH_AT_MOST = 1000
"""Events inside more others than this are taken to be inside that many: no program nests so deeply."""
ROUNDING_NS = 1000
"""Events that reach over the end of the one around them by no more than this were rounded: many traces count in us."""


@dataclass(frozen=True)
class Nest:
    """Events of several lanes in order (lane, start, longest first), and the event around each.

    Attributes:
        order: Positions of the events in the columns they came from.
        lane: Lane of each.
        start: Start of each (ns).
        end: End of each (ns); never after that of its parent.
        parent: Position in this order of the innermost event around each, or NONE.
        depth: Number of events around each.
        overlapping: Whether each began inside another one and ended after it: its time is cut there.
    """

    order: Integers
    lane: Integers
    start: Integers
    end: Integers
    parent: Integers
    depth: Integers
    overlapping: Booleans

    def nested_ns(self) -> Integers:
        """Time of each event's direct children (ns)."""
        total = np.zeros(len(self.order), np.int64)
        inside = self.parent >= 0
        np.add.at(total, self.parent[inside], (self.end - self.start)[inside])
        return total

    def at(self, lane: Integers, time: Integers) -> Integers:
        """The innermost event around each (lane, time), as a position in this order, or NONE."""
        if not len(self.order):
            return np.full(len(lane), NONE, np.int64)
        inner = _last_before(self.lane, self.start, lane, time)
        while True:
            known = inner >= 0
            wrong = known.copy()
            wrong[known] = (self.lane[inner[known]] != lane[known]) | (self.end[inner[known]] <= time[known])
            if not wrong.any():
                return inner
            gone = wrong & known
            other = gone.copy()
            other[gone] = self.lane[inner[gone]] != lane[gone]
            inner[gone] = self.parent[inner[gone]]
            inner[other] = NONE


def _last_before(lanes: Integers, starts: Integers, lane: Integers, time: Integers) -> Integers:
    """The last of the sorted (lanes, starts) that is not after each (lane, time)."""
    first, last = int(starts.min()), int(starts.max())
    wide = last - first + 2
    if wide * (1 + max(int(lanes[-1]), int(lane.max(initial=0)))) < 2**62:
        # As one number each, which a single search finds.
        begun = np.clip(time, first - 1, last) - (first - 1)
        return np.searchsorted(lanes * wide + (starts - (first - 1)), lane * wide + begun, "right") - 1
    return _bisected(lanes, starts, lane, time)


def _bisected(lanes: Integers, starts: Integers, lane: Integers, time: Integers) -> Integers:
    """The same for times that are too far apart."""
    low = np.searchsorted(lanes, lane, "left")
    high = np.searchsorted(lanes, lane, "right")
    # A bisection for all at once: the lanes are blocks, sorted by start inside.
    while True:
        open_ = low < high
        if not open_.any():
            return (low - 1).astype(np.int64)
        middle = (low + high) // 2
        below = np.zeros(len(low), bool)
        below[open_] = starts[middle[open_]] <= time[open_]
        low = np.where(open_ & below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)


def nest_events(events: Events, rows: Integers) -> Nest:
    """Find the event around each of some events; `order` counts in `rows`."""
    return nest(events.lane[rows], events.start[rows], events.dur[rows])


def nest(lane: npt.NDArray[np.int32], start: Integers, dur: Integers) -> Nest:
    """Find the event around each event of the same lane."""
    order = np.lexsort((-dur, start, lane)).astype(np.int64)
    lanes, starts = lane[order].astype(np.int64), start[order]
    ends = starts + dur[order]
    depth = _depths(lanes, starts, ends)
    parent = _parents(lanes, depth)
    overlapping = np.zeros(len(order), bool)
    # Parents come before children, so one pass per depth cuts every end at that of its parent.
    for level in levels(depth)[1:]:
        at = level[parent[level] >= 0]
        # What began after the end of an event that was cut is not inside it.
        while len(gone := at[ends[parent[at]] <= starts[at]]):
            parent[gone] = parent[parent[gone]]
            at = at[parent[at] >= 0]
        overlapping[at] = ends[at] > ends[parent[at]] + ROUNDING_NS
        ends[at] = np.minimum(ends[at], ends[parent[at]])
    return Nest(order, lanes, starts, np.maximum(ends, starts), parent, depth, overlapping)


def _depths(lanes: Integers, starts: Integers, ends: Integers) -> Integers:
    """How many events of its lane are open when each begins."""
    depth = np.empty(len(lanes), np.int64)
    bounds = np.flatnonzero(np.diff(lanes)) + 1
    for low, high in zip([0, *bounds.tolist()], [*bounds.tolist(), len(lanes)], strict=True):
        begin = starts[low:high]
        # An event without duration is open at its own moment.
        closed = np.sort(np.maximum(ends[low:high], begin + 1))
        depth[low:high] = np.arange(high - low) - np.searchsorted(closed, begin, "right")
    return np.minimum(depth, DEPTH_AT_MOST)


def levels(depth: Integers) -> list[Integers]:
    """Positions of the events of each depth, from 0 on; in order."""
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2))
    return [order[low:high] for low, high in itertools.pairwise(bounds)]


def _parents(lanes: Integers, depth: Integers) -> Integers:
    parent = np.full(len(lanes), NONE, np.int64)
    by_level = levels(depth)
    for above, at in itertools.pairwise(by_level):
        around = above[np.maximum(np.searchsorted(above, at) - 1, 0)]
        good = (around < at) & (lanes[around] == lanes[at])
        parent[at[good]] = around[good]
    return parent


def union_ns(start: Integers, end: Integers) -> int:
    """Wall time that the intervals cover together (ns)."""
    merged = merge(start, end)
    return int((merged[1] - merged[0]).sum())


def merge(start: Integers, end: Integers) -> tuple[Integers, Integers]:
    """The intervals as disjoint ones, in order."""
    if not len(start):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    order = np.argsort(start, kind="stable")
    begins, reach = start[order], np.maximum.accumulate(end[order])
    first = np.concatenate(([True], begins[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return begins[first], reach[last]
