"""Events that are put away in files when they become many."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.kernels import event_store
from dlprof.ingest.kernels.event_store import EventStore
from dlprof.ingest.kernels.events import EventRow, Events
from dlprof.schema.vocabulary import EventKind


def filled(batches: int) -> EventStore:
    """A store of three events per batch, from 0 on."""
    store = EventStore()
    for first in range(0, 3 * batches, 3):
        store.add(Events.of_rows([EventRow(EventKind.OPERATOR, 0, at, 10, 0) for at in range(first, first + 3)]))
    return store


def test_it_tells_how_many_and_from_when_to_when() -> None:
    """The last end is not that of the last event."""
    store = EventStore()
    store.add(Events.of_rows([EventRow(EventKind.OPERATOR, 0, 5, 100, 0), EventRow(EventKind.OPERATOR, 0, 7, 1, 0)]))

    assert (store.size, store.first_ns, store.last_ns) == (2, 5, 105)


def test_an_empty_one_has_no_times() -> None:
    """None, not zero."""
    store = EventStore()
    store.add(Events.concat(()))

    assert (store.size, store.first_ns, store.last_ns, len(store.take())) == (0, None, None, 0)


def test_many_events_are_put_into_files_and_come_back_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than once, as long as they are not given up."""
    monkeypatch.setattr(event_store, "HELD_EVENTS", 4)
    store = filled(batches=5)
    assert len(store._files) == 2

    for _ in range(2):
        assert [int(at) for chunk in store.chunks() for at in chunk.start] == list(range(15))
    assert store.take().start.tolist() == list(range(15))


def test_files_are_gone_when_the_events_were_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how many there were is still known."""
    monkeypatch.setattr(event_store, "HELD_EVENTS", 4)
    store = filled(batches=5)
    folder = Path(store._folder.name) if store._folder else Path("none")
    assert folder.is_dir()

    store.take()

    assert (folder.exists(), store.size, len(store.take())) == (False, 15, 0)
