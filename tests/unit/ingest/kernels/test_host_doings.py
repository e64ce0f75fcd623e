"""What the host did in stretches of time."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.host_doings import Doing, HostDoings
from dlprof.ingest.kernels.linking import link
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import Row, make_trace

MAIN, OTHER = 0, 1


def longest(rows: list[Row], begin: int = 0, dur: int = 100) -> Doing:
    """What was done longest in a stretch of the main thread."""
    trace = make_trace(rows, "launch")
    events = trace.events.take()
    doings = HostDoings(events, link(events), trace.names)
    lane = events.lane[[row[5] for row in rows].index(MAIN)] if any(row[5] == MAIN for row in rows) else 99
    (found,) = doings.longest(np.asarray([lane]), np.asarray([begin]), np.asarray([dur]))
    return found


def test_the_innermost_event_that_took_longest_counts() -> None:
    """An operator of 60 ns, with a call of 50 in it."""
    rows: list[Row] = [
        (EventKind.OPERATOR, "add", 0, 30, CPU, MAIN, -1),
        (EventKind.OPERATOR, "empty", 35, 60, CPU, MAIN, -1),
        (EventKind.RUNTIME, "cudaMalloc", 40, 50, CPU, MAIN, -1),
    ]

    assert longest(rows) == Doing("cudaMalloc")


def test_where_it_was_is_the_nearest_range_and_the_users_function() -> None:
    """A function of a library inside the user's own is passed over."""
    rows: list[Row] = [
        (EventKind.PYTHON, "train.py(41): main", 0, 100, CPU, MAIN, -1),
        (EventKind.ANNOTATION, "## forward ##", 1, 98, CPU, MAIN, -1),
        (EventKind.PYTHON, "torch/nn/modules/module.py(1511): _call_impl", 2, 96, CPU, MAIN, -1),
        (EventKind.RUNTIME, "cudaFree", 5, 90, CPU, MAIN, -1),
    ]

    assert longest(rows) == Doing("cudaFree", "## forward ##", "train.py(41): main")


def test_where_the_thread_tells_nothing_another_one_is_asked() -> None:
    """And that is said; a range around a whole step tells nothing."""
    rows: list[Row] = [
        (EventKind.ANNOTATION, "ProfilerStep#3", 0, 100, CPU, MAIN, -1),
        (EventKind.ANNOTATION, "## backward ##", 10, 80, CPU, OTHER, -1),
    ]

    assert longest(rows) == Doing("## backward ##", elsewhere=True)


def test_what_nobody_recorded_is_not_known() -> None:
    """Nothing ran in the stretch on any thread."""
    assert longest([(EventKind.OPERATOR, "add", 0, 30, CPU, MAIN, -1)], begin=50, dur=40) == Doing()
