"""Time in which a GPU ran nothing, and why."""

from __future__ import annotations

from typing import Any

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.gaps import GapFinder
from dlprof.ingest.kernels.linking import link
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import Row, make_trace

COLUMNS = ("start_ns", "dur_ns", "host_ns", "launch_ns", "wait_ns", "kernel", "blamed")


def gaps(*segments: list[Row]) -> list[tuple[Any, ...]]:
    """The gaps of a trace that comes in segments."""
    trace = make_trace([row for rows in segments for row in rows], "launch")
    events = trace.events.take()
    finder, found = GapFinder(trace.names, ProcessId("h", 0, 1, 0), 0), []
    for rows in segments:
        part = events.select((events.start >= rows[0][2]) & (events.start <= rows[-1][2]))
        found += finder.find(part, link(part)).to_pylist()
    return [tuple(row[name] for name in COLUMNS) for row in found]


FIRST: list[Row] = [(EventKind.RUNTIME, "launch", 0, 5, CPU, 0, 1), (EventKind.KERNEL, "a", 10, 90, 0, 2, 1)]
SECOND: list[Row] = [
    (EventKind.OPERATOR, "slow", 100, 80, CPU, 0, -1),
    (EventKind.RUNTIME, "launch", 190, 5, CPU, 0, 2),
    (EventKind.KERNEL, "b", 200, 20, 0, 2, 2),
]


def test_before_the_launch_a_gap_is_the_hosts_and_charged_to_what_it_did() -> None:
    """90 ns until the launch, 10 ns of latency."""
    assert gaps([*FIRST, *SECOND]) == [(100, 100, 90, 10, 0, "b", "slow")]


def test_a_gap_between_two_segments_is_found() -> None:
    """The end of the last kernel is remembered."""
    assert gaps(FIRST, SECOND) == [(100, 100, 90, 10, 0, "b", "slow")]


def test_kernels_of_another_stream_fill_a_gap() -> None:
    """A device is busy while any of its streams is."""
    filling: list[Row] = [(EventKind.KERNEL, "c", 90, 110, 0, 1, -1)]

    assert gaps([*FIRST, *filling, *SECOND]) == []


def test_a_launch_that_takes_long_is_the_hosts() -> None:
    """The call lasts 80 ns of the gap's 100: less the latency of 10, as that of the others, it is host-bound."""
    usual: list[Row] = [
        (EventKind.RUNTIME, "launch", 290, 5, CPU, 0, 3),
        (EventKind.KERNEL, "c", 300, 10, 0, 2, 3),
        (EventKind.RUNTIME, "launch", 390, 5, CPU, 0, 4),
        (EventKind.KERNEL, "d", 400, 10, 0, 2, 4),
    ]
    slow: list[Row] = [(EventKind.RUNTIME, "loads code", 110, 80, CPU, 0, 2), (EventKind.KERNEL, "b", 200, 20, 0, 2, 2)]

    assert gaps([*FIRST, *slow, *usual])[0] == (100, 100, 80, 10, 10, "b", "loads code")


def test_without_a_known_launch_nobody_can_say_why() -> None:
    """The gap has no parts, and nobody is blamed."""
    loose: list[Row] = [(EventKind.OPERATOR, "slow", 100, 80, CPU, 0, -1), (EventKind.KERNEL, "b", 200, 20, 0, 2, -1)]

    assert gaps([*FIRST, *loose]) == [(100, 100, 0, 0, 0, "b", None)]


def test_what_holds_up_a_kernel_of_a_graph_is_not_known() -> None:
    """It was launched before the gap, as a part of a graph; only a launch of its own tells of waiting."""
    early: list[Row] = [
        (EventKind.RUNTIME, "cudaGraphLaunch", 50, 5, CPU, 0, 2),
        (EventKind.KERNEL, "b", 200, 20, 0, 2, 2),
    ]
    own: list[Row] = [
        (EventKind.RUNTIME, "cudaLaunchKernel", 50, 5, CPU, 0, 2),
        (EventKind.KERNEL, "b", 200, 20, 0, 2, 2),
    ]

    assert gaps(sorted([*FIRST, *early], key=lambda row: row[2])) == [(100, 100, 0, 0, 0, "b", None)]
    assert gaps(sorted([*FIRST, *own], key=lambda row: row[2])) == [(100, 100, 0, 0, 100, "b", None)]
