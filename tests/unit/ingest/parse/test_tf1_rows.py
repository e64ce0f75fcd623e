"""Rows of TensorFlow 1's timeline, each execution once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.chrome import Args, Event
from dlprof.ingest.parse.tf1_rows import Tf1Rows, is_row
from dlprof.schema.vocabulary import EventKind

DEVICE = "/job:localhost/replica:0/task:0/device:GPU:0"
ROWS = {
    1: f"{DEVICE} Compute",
    2: f"{DEVICE}/stream:7 Compute",
    3: f"{DEVICE}/stream:all Compute",
    4: f"{DEVICE}/memcpy Compute",
    5: "/host:CPU Compute",
}


def taken(*events: tuple[int, str, float]) -> list[tuple[EventKind, str, int]]:
    """Kind, name and device of what is taken of (row, name, start)."""
    trace = Trace(Path("t.json"), "tf1-timeline", "tensorflow")
    told = [Event("X", name, "Op", start, 5.0, row, 0, None, Args(name=f"node{start}")) for row, name, start in events]
    found = Tf1Rows(trace, ROWS).events(told)
    return [(event.kind, trace.names[event.name], event.device) for event in found]


def test_a_kernel_is_taken_from_its_stream_alone() -> None:
    """The row of the device has the call that launched it."""
    assert taken((1, "MatMul", 1.0), (2, "MatMul", 2.0), (3, "MatMul", 2.0)) == [
        (EventKind.RUNTIME, "MatMul", -1),
        (EventKind.KERNEL, "MatMul", 0),
    ]


def test_what_the_row_of_copies_has_too_is_a_copy() -> None:
    """Unless `stream:all` has it."""
    assert taken((2, "edge_1", 2.0), (4, "edge_1", 2.0)) == [(EventKind.TRANSFER, "edge_1", 0)]


def test_the_hosts_row_repeats_those_of_the_devices() -> None:
    """It is not taken where there are some."""
    assert taken((5, "MatMul", 1.0)) == []


@pytest.mark.parametrize(
    ("name", "found"), [*((name, True) for name in ROWS.values()), ("Allocators", True), ("Tensors", False)]
)
def test_rows_are_known_by_their_names(name: str, found: bool) -> None:
    """So that a file is known by them."""
    assert is_row(name) is found


@pytest.mark.parametrize("name", ["IteratorGetNext", "QueueDequeueManyV2"])
def test_operators_that_wait_for_a_batch_are_input(name: str) -> None:
    """A data set, or a queue that threads of the program fill: on the row of a processor, or of the host alone."""
    trace = Trace(Path("t.json"), "tf1-timeline", "tensorflow")
    told = [Event("X", one, "Op", 1.0, 5.0, 1, 0, None, Args(name="n")) for one in (name, "MatMul")]
    rows = Tf1Rows(trace, {1: "/job:localhost/replica:0/task:0/device:CPU:0 Compute"})

    assert [event.kind for event in rows.events(told)] == [EventKind.INPUT, EventKind.OPERATOR]
