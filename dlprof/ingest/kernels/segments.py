"""Cuts a large trace into segments of time, so that memory does not grow with the trace.

A cut lies where no operator and no call runs on any thread of the host, so nothing that is nested is taken
apart. Kernels go with the call that launched them, wherever they ran; ranges that reach over a cut are context in
the segments after it. The rows wait in files meanwhile: `EventStore` writes them when they become many, and here they
are sorted into one file per segment.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dlprof.ingest.kernels.event_store import EventStore
from dlprof.ingest.kernels.events import NONE, Events, Integers
from dlprof.schema.vocabulary import EventKind

SEGMENT_EVENTS = 1_000_000
"""Events of a segment, about."""
_BINS = 1 << 16
_HOST = (EventKind.OPERATOR, EventKind.RUNTIME, EventKind.WAIT)
_CALLS = (EventKind.RUNTIME, EventKind.WAIT)
_ON_DEVICE = (EventKind.KERNEL, EventKind.TRANSFER)
_RANGES = (EventKind.ANNOTATION, EventKind.PYTHON)


def cut(store: EventStore, *, whole: bool = False) -> Iterator[Events]:
    """The events of a trace, segment by segment; they are given up.

    Args:
        store: The events.
        whole: Whether they must not be cut.
    """
    if whole or store.size <= 1.5 * SEGMENT_EVENTS:
        yield store.take()
        return
    plan = _Survey(store).plan()
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:
        files = _Files(Path(folder), len(plan.cuts) + 1)
        for chunk in store.chunks():
            _sort_in(chunk, plan, files)
        store.clear()
        for number in range(len(plan.cuts) + 1):
            events = files.read(number)
            if len(events):
                yield events


@dataclass(frozen=True)
class _Plan:
    """Where to cut, and when the calls began that launch.

    Attributes:
        cuts: Times (ns), in order.
        links: Links of the calls, in order.
        starts: Start of each call (ns).
    """

    cuts: Integers
    links: Integers
    starts: Integers

    def times(self, events: Events) -> Integers:
        """The time by which each event is sorted in: that of its launch, or its own start (ns)."""
        time = events.start.copy()
        device = np.flatnonzero(events.is_kind(*_ON_DEVICE) & (events.link > NONE))
        if len(device) and len(self.links):
            link = events.link[device]
            at = np.minimum(np.searchsorted(self.links, link), len(self.links) - 1)
            same = self.links[at] == link
            time[device[same]] = self.starts[at[same]]
        return time


class _Survey:
    """Where the host is busy, in bins of time, and which calls launch."""

    def __init__(self, store: EventStore) -> None:
        self._first, last = store.first_ns or 0, store.last_ns or 0
        self._width = (last - self._first) // _BINS + 1
        self._covered, self._count = np.zeros(_BINS + 2, np.int64), np.zeros(_BINS + 1, np.int64)
        self._calls: list[tuple[Integers, Integers]] = []
        for chunk in store.chunks():
            self._count_events(chunk)
            calls = chunk.is_kind(*_CALLS) & (chunk.link > NONE)
            self._calls.append((chunk.link[calls], chunk.start[calls]))

    def _count_events(self, chunk: Events) -> None:
        begin, width = chunk.start - self._first, self._width
        self._count += np.bincount(begin // width, minlength=_BINS + 1)[: _BINS + 1]
        host = chunk.is_kind(*_HOST) & (chunk.dur > 0)
        low, high = begin[host] // width + 1, (begin[host] + chunk.dur[host] - 1) // width
        inside = high >= low
        np.add.at(self._covered, low[inside], 1)
        np.add.at(self._covered, np.minimum(high[inside], _BINS) + 1, -1)

    def plan(self) -> _Plan:
        """Where to cut."""
        quiet = np.flatnonzero(np.cumsum(self._covered)[: _BINS + 1] == 0)
        cuts = _cuts(quiet, np.concatenate(([0], np.cumsum(self._count))))
        links, starts = (np.concatenate(parts) for parts in zip(*self._calls, strict=True))
        order = np.argsort(links, kind="stable")
        return _Plan(self._first + cuts * self._width, links[order], starts[order])


def _cuts(quiet: Integers, before: Integers) -> Integers:
    """The quiet places nearest behind each full segment; `before`: events before each place."""
    found: list[int] = []
    done = 0
    for place in quiet[quiet > 0].tolist():
        if before[place] - done >= SEGMENT_EVENTS and before[-1] > before[place]:
            found.append(place)
            done = int(before[place])
    return np.asarray(found, np.int64)


def _sort_in(chunk: Events, plan: _Plan, files: _Files) -> None:
    """Write the events of a chunk to the files of their segments."""
    segment = np.searchsorted(plan.cuts, plan.times(chunk), "right")
    end = np.searchsorted(plan.cuts, chunk.ends, "left")
    reaching = chunk.is_kind(*_RANGES) & (end > segment)
    for number in np.unique(np.concatenate((segment, end[reaching]))).tolist():
        files.write(number, chunk.select(segment == number))
    for number in range(int(segment.min()) + 1, int(end[reaching].max(initial=0)) + 1):
        over = reaching & (segment < number) & (end >= number)
        files.write(number, chunk.select(over).as_context())


class _Files:
    """One file of events per segment."""

    def __init__(self, folder: Path, count: int) -> None:
        self._paths = [folder / f"{number}.npy" for number in range(count)]
        self._parts = [0] * count

    def write(self, number: int, events: Events) -> None:
        """Add events to a segment."""
        if len(events):
            with self._paths[number].open("ab") as target:
                events.save(target)
            self._parts[number] += 1

    def read(self, number: int) -> Events:
        """All events of a segment; its file is removed."""
        if not self._parts[number]:
            return Events.concat(())
        with self._paths[number].open("rb") as source:
            events = Events.concat([Events.load(source) for _ in range(self._parts[number])])
        self._paths[number].unlink()
        return events
