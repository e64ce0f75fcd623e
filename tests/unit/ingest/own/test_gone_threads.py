"""Stacks of threads that came and went."""

from __future__ import annotations

from dlprof.ingest.own.gone_threads import StackRow, cut

S = 1_000_000_000
MAIN = StackRow(1, "MainThread", 0, 10 * S, 0)
"""100 samples at 10 a second."""


def test_the_last_stack_of_a_thread_ends_when_its_samples_do() -> None:
    """It seems to stand for 6 s, until the end; 20 samples are left for it, of which it has stood 2 s."""
    worker = StackRow(2, "loader", 4 * S, 6 * S, 1)

    assert cut([MAIN, worker], set(), 120, 0, 10.0) == [MAIN, worker._replace(dur=2 * S)]


def test_earlier_stacks_of_a_named_thread_are_sure() -> None:
    """Threads of Python come back only as others: 30 samples are the first's 10 and 20 of the last."""
    rows = [MAIN, StackRow(2, "loader", 3 * S, S, 1), StackRow(2, "loader", 4 * S, 6 * S, 2)]

    assert [row.dur for row in cut(rows, set(), 130, 0, 10.0)] == [10 * S, S, 2 * S]


def test_each_stack_of_a_thread_without_a_name_is_in_doubt() -> None:
    """An engine's thread is gone between two calls: 22 samples are one of each stack, and half of the rest."""
    rows = [MAIN, StackRow(2, "thread 2", 3 * S, S + S // 10, 1), StackRow(2, "thread 2", 4 * S, 3 * S + S // 10, 2)]

    assert [row.dur for row in cut(rows, {2}, 122, 0, 10.0)] == [10 * S, 6 * S // 10, 16 * S // 10]


def test_a_stack_keeps_a_sample_at_least() -> None:
    """It was seen when it began, however few samples are left."""
    assert cut([MAIN, StackRow(2, "thread 2", 3 * S, 7 * S, 1)], {2}, 90, 0, 10.0)[1].dur == S // 10


def test_stacks_that_stood_as_long_as_they_seem_are_left_alone() -> None:
    """The samples suffice; so do those of a time in which the main thread could not be read."""
    worker = StackRow(2, "loader", 0, 10 * S, 1)

    assert cut([MAIN, worker], set(), 200, 0, 10.0) == [MAIN, worker]
    assert cut([MAIN, worker], set(), 180, 20, 10.0) == [MAIN, worker]
    assert cut([MAIN], set(), 50, 0, 10.0) == [MAIN]


def test_main_threads_of_several_processes_count_each() -> None:
    """A program that is no Python script may start several."""
    other = StackRow(7, "MainThread", 5 * S, 5 * S, 0)
    worker = StackRow(2, "loader", 4 * S, 6 * S, 1)

    assert cut([MAIN, other, worker], set(), 170, 0, 10.0)[2].dur == 2 * S
