"""When threads that phases are of began and ended their work, by sampled stacks."""

from __future__ import annotations

import pytest

from dlprof.analysis import phase_turn_edges
from dlprof.analysis.stretches import Stretches
from dlprof.schema.manifest import PhaseThread
from tests.unit.runs import S, table

WORKS, WAITS, PACKS = 0, 1, 2
"""Numbers of stacks: one in train.py, one in a queue, one in a library that a wait called."""
FRAMES = [
    {"stack_id": WORKS, "depth": 0, "function": "f", "file": "train.py", "line": 3},
    {"stack_id": WAITS, "depth": 1, "function": "get", "file": "<python>/queue.py", "line": 171},
    {"stack_id": WAITS, "depth": 0, "function": "f", "file": "train.py", "line": 9},
    {"stack_id": PACKS, "depth": 0, "function": "get", "file": "<python>/queue.py", "line": 171},
    {"stack_id": PACKS, "depth": 1, "function": "dumps", "file": "<python>/json/__init__.py", "line": 7},
]
MAIN, WORKER = 42, 501
TURN = PhaseThread(thread="worker", thread_id=7, system_id=WORKER, start_ns=3 * S, end_ns=8 * S)
BUSY = {7: Stretches.of([(3 * S, 5 * S), (7 * S, 8 * S)])}
"""It builds a model until 5 s, and saves it from 7 s on."""


def settled(*stood: tuple[int, int, float, float], turn: PhaseThread = TURN) -> list[tuple[float, float]]:
    """Begin and end (s) of the turns that one becomes; stacks by thread, number, begin and end (s)."""
    rows = [
        {"pid": 42, "thread_id": thread, "thread": "MainThread" if thread == MAIN else "worker", "stack_id": stack,
         "start_ns": int(begin * S), "dur_ns": int(end * S) - int(begin * S)}
        for thread, stack, begin, end in stood
    ]  # fmt: skip
    found = phase_turn_edges.settled([turn], [table("stacks", rows)], table("frames", FRAMES), BUSY)
    return [(one.start_ns / S, one.end_ns / S) for one in found]


def test_what_the_thread_does_before_and_after_is_of_its_turn_where_the_main_one_waits() -> None:
    """It makes data from 1 s on, and writes until 9 s."""
    assert settled((MAIN, WAITS, 0.5, 10), (WORKER, WORKS, 1, 9)) == [(1, 9)]


def test_as_long_as_the_main_thread_does_something_the_time_is_its_own() -> None:
    """It waits from 2 s to 8.5 s."""
    stood = (MAIN, WORKS, 0.5, 2), (MAIN, WAITS, 2, 8.5), (MAIN, WORKS, 8.5, 10), (WORKER, WORKS, 1, 9)
    assert settled(*stood) == [(2, 8.5)]


def test_a_wait_of_the_thread_before_its_work_is_not_of_its_turn() -> None:
    """For a job, until 2.5 s."""
    assert settled((MAIN, WAITS, 0, 10), (WORKER, WAITS, 0, 2.5), (WORKER, WORKS, 2.5, 8)) == [(2.5, 8)]


def test_a_pause_in_which_the_main_thread_does_something_is_its_own() -> None:
    """The worker waits from 5 s to 7 s, of which the main one waits for a second."""
    worker = (WORKER, WORKS, 3, 5), (WORKER, WAITS, 5, 7), (WORKER, WORKS, 7, 8)
    main = (MAIN, WAITS, 0, 5), (MAIN, WORKS, 5, 6), (MAIN, WAITS, 6, 10)
    assert settled(*worker, *main) == [(3, 5), (7, 8)]


def test_a_pause_in_which_both_wait_stays_in_the_turn() -> None:
    """Nobody did anything: it is the thread that is being waited for."""
    worker = (WORKER, WORKS, 3, 5), (WORKER, WAITS, 5, 7), (WORKER, WORKS, 7, 8)
    assert settled(*worker, (MAIN, WAITS, 0, 10)) == [(3, 8)]


def test_waits_inside_of_what_the_probe_saw_are_no_pauses() -> None:
    """A fit that waits for its loader, from 3.5 s to 4.5 s, while the main thread draws."""
    worker = (WORKER, WORKS, 3, 3.5), (WORKER, WAITS, 3.5, 4.5), (WORKER, WORKS, 4.5, 8)
    assert settled(*worker, (MAIN, WORKS, 0, 10)) == [(3, 8)]


def test_a_library_that_a_wait_called_works() -> None:
    """The innermost frame tells."""
    assert settled((MAIN, WAITS, 0, 10), (WORKER, PACKS, 1, 8)) == [(1, 8)]


@pytest.mark.parametrize("system_id", [None, 999])
def test_a_turn_whose_thread_was_not_sampled_stays_as_it_is(system_id: int | None) -> None:
    """Its number is not known, or no stack has it."""
    turn = PhaseThread(thread="worker", thread_id=7, system_id=system_id, start_ns=3 * S, end_ns=8 * S)
    assert settled((MAIN, WAITS, 0, 10), (WORKER, WORKS, 1, 9), turn=turn) == [(3, 8)]


def test_turns_do_not_grow_into_each_other() -> None:
    """One that works on behind its last span ends where the next begins."""
    second = PhaseThread(thread="other", thread_id=8, system_id=502, start_ns=8 * S, end_ns=9 * S)
    rows = [
        {"pid": 42, "thread_id": one, "thread": name, "stack_id": stack, "start_ns": 0, "dur_ns": 10 * S}
        for one, name, stack in ((MAIN, "MainThread", WAITS), (WORKER, "worker", WORKS), (502, "other", WORKS))
    ]
    busy = BUSY | {8: Stretches.of([(8 * S, 9 * S)])}
    found = phase_turn_edges.settled([TURN, second], [table("stacks", rows)], table("frames", FRAMES), busy)

    assert [(one.start_ns / S, one.end_ns / S) for one in found] == [(0, 8), (8, 10)]
