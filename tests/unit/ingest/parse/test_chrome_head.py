"""What the head of a file shows of a trace in Chrome's format."""

from __future__ import annotations

import pytest

from dlprof.ingest.parse.chrome_head import EVENTS_AT_MOST, chrome_head

EVENT = b'{"ph": "X", "name": "f", "cat": "c", "ts": 1, "dur": 2}'


@pytest.mark.parametrize("text", [b"", b"hello", b"[1, 2]", b'{"a": 1}', b"ph X"])
def test_what_is_no_trace_is_none(text: bytes) -> None:
    """Other JSON, and other text."""
    assert chrome_head(text) is None


@pytest.mark.parametrize("text", [b"[" + EVENT, b'\xef\xbb\xbf{"traceEvents": [' + EVENT + b", " + EVENT[:20]])
def test_whole_events_are_read_though_the_text_is_cut(text: bytes) -> None:
    """In an array, or in an object under `traceEvents`."""
    head = chrome_head(text)

    assert head is not None
    assert [(event.name, event.cat) for event in head.events] == [("f", "c")]


def test_keys_are_those_that_dialects_are_told_by() -> None:
    """Wherever they stand in the head."""
    head = chrome_head(b'{"schemaVersion": 1, "other": 2, "traceEvents": [' + EVENT)

    assert head is not None
    assert head.keys == {"schemaVersion"}


def test_names_of_processes_are_collected_from_metadata() -> None:
    """Not from events that ran."""
    named = b'{"ph": "M", "name": "process_name", "args": {"name": "gpu/0"}}'
    head = chrome_head(b'{"traceEvents": [' + named + b', {"ph": "X", "name": "f", "args": {"name": "no"}}')

    assert head is not None
    assert head.process_names() == {"gpu/0"}


def test_no_more_events_are_read_than_it_takes() -> None:
    """A head may hold thousands."""
    head = chrome_head(b"[" + b",".join([EVENT] * 1000))

    assert head is not None
    assert len(head.events) == EVENTS_AT_MOST
