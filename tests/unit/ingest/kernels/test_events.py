"""Events by columns."""

from __future__ import annotations

import io

import numpy as np

from dlprof.ingest.kernels.events import CPU, NONE, EventRow, Events
from dlprof.schema.vocabulary import EventKind

ROWS = [
    EventRow(EventKind.OPERATOR, 0, 10, 5, 1),
    EventRow(EventKind.KERNEL, 1, 20, 7, 2, device=0, link=9),
    EventRow(EventKind.TRANSFER, 1, 30, 1, 2, device=0, scope=4),
]


def test_rows_become_columns_of_their_types() -> None:
    """What a row does not say is none; all is the host's."""
    events = Events.of_rows(ROWS)

    assert (events.start.tolist(), events.ends.tolist()) == ([10, 20, 30], [15, 27, 31])
    assert (events.device.tolist(), events.link.tolist(), events.scope.tolist()) == (
        [CPU, 0, 0],
        [NONE, 9, NONE],
        [NONE, NONE, 4],
    )
    assert [events.kind.dtype, events.name.dtype, events.device.dtype, events.link.dtype] == ["i1", "i4", "i2", "i8"]


def test_a_column_that_is_not_given_is_none_throughout() -> None:
    """Lanes, devices, links and scopes may be left out."""
    events = Events.of(kind=[0, 0], name=[0, 1], start=[1, 2], dur=[1, 1])

    assert (events.lane.tolist(), events.device.tolist(), events.scope.tolist()) == ([NONE] * 2, [CPU] * 2, [NONE] * 2)
    assert not events.context.any()


def test_some_of_the_events_are_chosen_by_a_mask_or_by_positions() -> None:
    """In the order that is asked for."""
    events = Events.of_rows(ROWS)

    assert events.select(events.is_kind(EventKind.KERNEL, EventKind.TRANSFER)).start.tolist() == [20, 30]
    assert events.select(np.array([2, 0])).start.tolist() == [30, 10]


def test_shifted_events_begin_at_another_time_and_last_as_long() -> None:
    """The events themselves stay where they are."""
    events = Events.of_rows(ROWS)

    assert (events.shifted(-10).start.tolist(), events.shifted(-10).dur.tolist()) == ([0, 10, 20], [5, 7, 1])
    assert events.start.tolist() == [10, 20, 30]


def test_no_parts_are_no_events() -> None:
    """With columns of the right types."""
    empty = Events.concat(())

    assert len(empty) == 0
    assert [empty.kind.dtype, empty.context.dtype] == ["i1", "?"]


def test_what_was_saved_is_loaded() -> None:
    """Several one behind the other, with what is context in them."""
    file = io.BytesIO()
    Events.of_rows(ROWS).save(file)
    Events.of_rows(ROWS[:1]).as_context().save(file)
    file.seek(0)

    both = Events.concat([Events.load(file), Events.load(file)])

    assert both.start.tolist() == [10, 20, 30, 10]
    assert both.context.tolist() == [False, False, False, True]
