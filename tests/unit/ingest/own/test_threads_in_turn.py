"""Threads that had one number in turn."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.own.threads_in_turn import SystemThread, ThreadsInTurn

KNOWN = ThreadsInTurn(
    [SystemThread(7, 501, 3, "first"), SystemThread(1, 500, 1, "MainThread"), SystemThread(7, 502, 9, "second")]
)


def which(known: ThreadsInTurn, *spans: tuple[int, int]) -> list[int]:
    """The place of the thread of each span, by the number of its thread and its own."""
    threads, numbers = np.array(spans, np.int64).T
    return [int(place) for place in known.of(threads, numbers)]


def test_a_span_is_of_the_last_thread_that_had_its_number_before_it() -> None:
    """From its first span on."""
    assert which(KNOWN, (7, 3), (7, 8), (7, 9), (1, 9), (7, 99)) == [0, 0, 2, 1, 2]


def test_a_span_of_a_thread_that_nothing_tells_of_is_of_none() -> None:
    """Nor is one from before its thread was told."""
    assert which(KNOWN, (8, 5), (7, 2), (0, 1)) == [-1, -1, -1]


def test_a_stream_that_tells_nothing_tells_no_threads_apart() -> None:
    """Of a Python before 3.8."""
    assert which(ThreadsInTurn(), (7, 3), (1, 3)) == [-1, -1]
