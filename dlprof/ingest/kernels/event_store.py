"""Keeps the events of a trace, in files when they become many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from dlprof.ingest.kernels.events import Events
from dlprof.ingest.limits import budget

HELD_EVENTS = 1_000_000
"""Events that are held in memory before they are written to a file."""


class EventStore:
    """Events in the order in which they were added.

    Attributes:
        size: Number of events, also after they were given up.
        first_ns: Earliest start (ns); None: there are no events.
        last_ns: Latest end (ns).
    """

    def __init__(self) -> None:
        self.size = 0
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self._batches: list[Events] = []
        self._held = 0
        self._files: list[Path] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add(self, events: Events, *, counted: bool = True) -> None:
        """Add events.

        Args:
            events: The events.
            counted: Whether they count towards the limit; those do not that were counted in another store.

        Raises:
            LimitError: There are too many of them.
        """
        if not len(events):
            return
        if counted:
            budget().rows(len(events))
        first, last = int(events.start.min()), int(events.ends.max())
        self.first_ns = first if self.first_ns is None else min(self.first_ns, first)
        self.last_ns = last if self.last_ns is None else max(self.last_ns, last)
        self.size += len(events)
        self._batches.append(events)
        self._held += len(events)
        if self._held >= HELD_EVENTS:
            self._put_away()

    def _put_away(self) -> None:
        """Write the events that are held to a file: a large trace must not need as much memory."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dlprof-")
        path = Path(self._folder.name) / f"{len(self._files)}.npy"
        with path.open("wb") as target:
            self._merged().save(target)
        self._files.append(path)

    def _merged(self) -> Events:
        """The events that are held, as one batch; they are given up."""
        batches, self._batches, self._held = self._batches, [], 0
        return Events.concat(batches)

    def chunks(self) -> Iterator[Events]:
        """All events, some at a time; may be asked for again."""
        if self._held and self._files:
            self._put_away()
        for path in self._files:
            with path.open("rb") as source:
                yield Events.load(source)
        if self._held:
            merged = self._merged()
            self._batches, self._held = [merged], len(merged)
            yield merged

    def take(self) -> Events:
        """All events; they are given up."""
        if not self._files:
            return self._merged()
        events = Events.concat(list(self.chunks()))
        self.clear()
        return events

    def clear(self) -> None:
        """Give up all events."""
        self._batches, self._held, self._files = [], 0, []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
