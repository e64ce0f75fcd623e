"""Which spans, steps and stacks are of the thread that phases are of."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.manifest import PhaseThread
from tests.unit.runs import table

MAIN, OTHER = 1, 7
NAMES = {MAIN: "MainThread", OTHER: "worker", 8: "beside"}
ALONE = PhaseThreads(MAIN)
TURNS = PhaseThreads(
    MAIN, [PhaseThread(thread="worker", thread_id=OTHER, start_ns=a, end_ns=b) for a, b in ((100, 200), (300, 400))]
)
"""The worker has the phases from 100 to 200 ns, and from 300 to 400."""


def spans(*rows: tuple[int | None, int, int]) -> Any:
    """Spans by thread, begin and end."""
    return table("spans", [{"thread_id": one, "kind": "fit", "start_ns": a, "dur_ns": b - a} for one, a, b in rows])


def times(cut: Any) -> list[tuple[int, int, int]]:
    """The same of a table."""
    return [(row["thread_id"], row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in cut.to_pylist()]


def stood(*rows: tuple[int, int, int]) -> Any:
    """Stacks by thread, begin and end, each with a number of its own."""
    return table(
        "stacks",
        [{"thread": NAMES[one], "start_ns": a, "dur_ns": b - a, "stack_id": n} for n, (one, a, b) in enumerate(rows)],
    )


def test_without_turns_all_is_the_main_threads() -> None:
    """As it is in most runs."""
    assert times(ALONE.cut(spans((MAIN, 0, 50), (OTHER, 20, 30), (None, 0, 9)))) == [(MAIN, 0, 50)]
    assert ALONE.begin(spans((MAIN, 0, 5), (OTHER, 0, 5))).tolist() == [True, False]


def test_without_a_main_thread_nothing_is_anybodys() -> None:
    """A span without a thread neither."""
    assert PhaseThreads(None).begin(spans((MAIN, 0, 5), (None, 0, 5))).tolist() == [False, False]


def test_rows_begin_while_their_thread_has_the_phases() -> None:
    """A turn's end is no longer in it."""
    rows = spans(
        (MAIN, 99, 100), (MAIN, 100, 101), (OTHER, 99, 100), (OTHER, 100, 101), (OTHER, 200, 201), (8, 150, 160)
    )
    assert TURNS.begin(rows).tolist() == [True, False, False, True, False, False]


@pytest.mark.parametrize(
    ("thread", "begin", "end", "kept"),
    [
        (MAIN, 0, 50, (0, 50)),
        (MAIN, 50, 150, (50, 100)),  # what is left of it is before the turn
        (MAIN, 150, 250, (200, 250)),
        (MAIN, 150, 350, (200, 300)),
        (MAIN, 120, 180, None),
        (MAIN, 0, 500, (0, 500)),  # it is around the turns
        (MAIN, 250, 250, (250, 250)),
        (OTHER, 120, 180, (120, 180)),
        (OTHER, 50, 150, (100, 150)),
        (OTHER, 150, 250, (150, 200)),
        (OTHER, 50, 90, None),
        (OTHER, 210, 290, None),
        (8, 120, 180, None),
        (None, 120, 180, None),
    ],
)
def test_a_span_is_cut_to_when_its_thread_has_the_phases(
    thread: int | None, begin: int, end: int, kept: tuple[int, int] | None
) -> None:
    """One that is never there is left out."""
    assert times(TURNS.cut(spans((thread, begin, end)))) == ([] if kept is None else [(thread, *kept)])


def test_stacks_are_cut_where_phases_change_hands() -> None:
    """The main thread's wait from 50 on is its own up to 100, between 200 and 300, and from 400 on."""
    rows, own = TURNS.split(stood((MAIN, 50, 450), (OTHER, 90, 210), (8, 120, 130)))
    told = [(row["stack_id"], row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in rows.to_pylist()]

    assert told == [
        (0, 50, 100), (0, 100, 200), (0, 200, 300), (0, 300, 400), (0, 400, 450),
        (1, 90, 100), (1, 100, 200), (1, 200, 210), (2, 120, 130),
    ]  # fmt: skip
    assert own.tolist() == [True, False, True, False, True, False, True, False, False]


def test_stacks_that_end_where_a_turn_begins_are_whole() -> None:
    """No part without length is made."""
    rows, own = TURNS.split(stood((MAIN, 50, 100), (MAIN, 200, 300), (OTHER, 100, 200)))
    assert (rows.num_rows, own.tolist()) == (3, [True, True, True])


def test_stacks_of_the_threads_that_have_the_phases() -> None:
    """Without turns those of the main thread."""
    both = stood((MAIN, 0, 100), (OTHER, 0, 100))
    assert ALONE.of_stacks(both)["stack_id"].to_pylist() == [0]
    assert TURNS.of_stacks(both)["stack_id"].to_pylist() == [0]


def test_a_main_thread_that_waits_for_the_training_is_no_work_beside_it() -> None:
    """Nor is one that draws meanwhile; other threads are."""
    rows, own = TURNS.of_work(stood((MAIN, 50, 150), (OTHER, 100, 150), (8, 100, 150)))

    assert [(row["stack_id"], row["start_ns"]) for row in rows.to_pylist()] == [(0, 50), (1, 100), (2, 100)]
    assert own.tolist() == [True, True, False]
    assert ALONE.of_work(stood((MAIN, 0, 5), (OTHER, 0, 5)))[1].tolist() == [True, False]
