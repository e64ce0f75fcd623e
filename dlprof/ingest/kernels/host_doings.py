"""What the host did in stretches of time: on the thread that matters, else on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dlprof.ingest.attribution.names import plain
from dlprof.ingest.kernels.events import NONE, Booleans, Events, Integers
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.nesting import Nest, levels, nest_events
from dlprof.ingest.kernels.numbered import Numbered
from dlprof.schema import trace_marks
from dlprof.schema.vocabulary import EventKind

_HOST = tuple(kind for kind in EventKind if kind not in (EventKind.KERNEL, EventKind.TRANSFER))
"""What the host can be doing."""
_LOOKS = 8
"""Looks into each stretch: what is seen most often took longest, as a sampler would say."""
_OTHERS_AT_MOST = 64
"""Other threads that are asked: those with most events."""


@dataclass(frozen=True)
class Doing:
    """What the host did longest in a stretch.

    Attributes:
        name: The innermost operator, call, range or function; None: nothing was recorded.
        within: The innermost range around it that somebody named; None: there is none.
        at: The innermost function of Python around it, rather the user's than a library's; None: none was recorded.
        elsewhere: Whether that was on another thread, because nothing was recorded on the one that matters.
    """

    name: str | None = None
    within: str | None = None
    at: str | None = None
    elsewhere: bool = False


class HostDoings:
    """What the host did, of the events of a segment.

    Args:
        events: The events.
        linked: Their relations.
        names: Names of the trace's events.
    """

    def __init__(self, events: Events, linked: Linked, names: Numbered[str]) -> None:
        rows = np.flatnonzero(events.is_kind(*_HOST) & (events.device < 0))
        tree = nest_events(events, rows)
        self._tree = replace(tree, order=rows[tree.order])
        self._kind, self._name = events.kind[self._tree.order], events.name[self._tree.order].astype(np.int64)
        self._names = names
        says = np.asarray([not trace_marks.is_of_profiler(text) for text in names.values] or [True])[self._name]
        theirs = np.asarray([not trace_marks.is_of_library(text) for text in names.values] or [True])[self._name]
        self._says: Booleans = says
        self._within = self._nearest((self._kind == EventKind.ANNOTATION) & says)
        python = self._kind == EventKind.PYTHON
        users, any_ = self._nearest(python & theirs), self._nearest(python)
        self._at = np.where(users == NONE, any_, users)
        self._others = _busiest(events, linked, self._tree)

    def _nearest(self, wanted: Booleans) -> Integers:
        """The innermost wanted event around each, or itself, as a position in the tree, or NONE."""
        found = np.where(wanted, np.arange(len(wanted)), NONE)
        for level in levels(self._tree.depth)[1:]:
            open_ = level[(found[level] == NONE) & (self._tree.parent[level] >= 0)]
            found[open_] = found[self._tree.parent[open_]]
        return found

    def longest(self, lane: Integers, begin: Integers, dur: Integers) -> list[Doing]:
        """What was done longest in each stretch.

        Args:
            lane: The thread that matters in each.
            begin: When it begins (ns).
            dur: How long it is (ns).
        """
        if not len(self._tree.order):
            return [Doing()] * len(lane)
        looks = np.stack([begin + (dur * part) // (2 * _LOOKS) for part in range(1, 2 * _LOOKS, 2)])
        own = self._at_times(np.broadcast_to(lane, looks.shape), looks)
        elsewhere = np.full_like(own, NONE)
        for other in self._others:
            open_ = (own == NONE) & (elsewhere == NONE)
            if not open_.any():
                break
            elsewhere[open_] = self._at_times(np.full(int(open_.sum()), other), looks[open_])
        seen = np.where(own != NONE, own, elsewhere)
        return self._told(seen, own == NONE)

    def _at_times(self, lane: Integers, time: Integers) -> Integers:
        """The innermost event around each moment of a thread that says what it does, or NONE."""
        found = self._tree.at(lane.reshape(-1), time.reshape(-1)).reshape(lane.shape)
        return np.where((found != NONE) & self._says[found], found, NONE)

    def _told(self, seen: Integers, elsewhere: Booleans) -> list[Doing]:
        """The most frequent of the looks (first axis) into each stretch."""
        texts: Numbered[str] = Numbered()
        unique, inverse = np.unique(self._name[seen], return_inverse=True)
        by_name = np.asarray([texts.number(plain(self._names[n])) for n in unique.tolist()], np.int64)
        number = np.where(seen == NONE, NONE, by_name[inverse.reshape(seen.shape)])
        most = np.stack([(number == row).sum(axis=0) for row in number]).argmax(axis=0)
        columns = np.arange(seen.shape[1])
        told = cache(self._doing)  # gaps are many, and most are told like others
        named = (column.tolist() for column in self._named(seen[most, columns]))
        return list(map(told, *named, elsewhere[most, columns].tolist()))

    def _named(self, place: Integers) -> Sequence[Integers]:
        """Of each event, or NONE, the numbers of three names: its own, of the range around it, of the function."""
        within, at = self._within[place], self._at[place]
        parent = self._tree.parent[place]
        around = np.where(parent >= 0, self._within[parent], NONE)
        of = np.append(self._name, NONE)  # behind all events is what NONE leads to
        within = np.where(within == place, around, within)
        at = np.where(at == place, NONE, at)
        return [of[place], *(of[np.where(place == NONE, NONE, one)] for one in (within, at))]

    def _doing(self, name: int, within: int, at: int, elsewhere: bool) -> Doing:
        if name == NONE:
            return Doing()
        return Doing(self._text(name), self._text(within), self._text(at), elsewhere)

    def _text(self, name: int) -> str | None:
        return None if name == NONE else plain(self._names[name])


def _busiest(events: Events, linked: Linked, tree: Nest) -> Sequence[int]:
    """Threads of the host: those that launched most come first, then those with most events."""
    if not len(tree.lane):
        return []
    count = np.bincount(tree.lane)
    launched = linked.launch[linked.launch >= 0]
    launches = np.bincount(events.lane[launched], minlength=len(count))[: len(count)]
    order = np.lexsort((-count, -launches))
    return [lane for lane in order.tolist() if count[lane]][:_OTHERS_AT_MOST]
