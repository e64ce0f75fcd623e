"""When phases are of another thread than the main one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlprof.analysis import phase_turns
from dlprof.analysis.columns import Integers
from tests.unit import runs
from tests.unit.runs import S

MAIN, OTHER = 1, 7


def alike(threads: Integers, _spans: Integers) -> Integers:
    """No thread had the number of another one."""
    return np.full(len(threads), -1, np.int64)


def on(thread: int, kind: str, begin_s: float, end_s: float, number: int = 2) -> dict[str, Any]:
    """A span of a thread."""
    name = "MainThread" if thread == MAIN else f"Thread-{thread}"
    return runs.span(kind, begin_s, end_s, thread=name, thread_id=thread, span_id=number)


def turns(*spans: dict[str, Any], main: int | None = MAIN) -> list[tuple[int, float, float]]:
    """Thread, begin and end (s) of the turns of others, in a script of ten seconds."""
    rows = runs.table("spans", [on(MAIN, "script", 0, 10), *spans]).select(phase_turns.COLUMNS)
    found = phase_turns.found([rows.slice(0, 1), rows.slice(1)], [], main, alike)
    return [(one.thread_id, one.start_ns / S, one.end_ns / S) for one in found]


def test_a_thread_that_trains_has_the_phases_from_its_first_span_to_its_last() -> None:
    """Its model and its compilation, too."""
    made = [on(OTHER, "construct", 2, 3), on(OTHER, "fit", 4, 8), on(OTHER, "save", 8.5, 9)]
    assert turns(*made) == [(OTHER, 2, 9)]


@pytest.mark.parametrize("kind", ["import", "construct", "compile", "save"])
def test_a_thread_that_does_something_else_has_none(kind: str) -> None:
    """Only what fits, evaluates or predicts."""
    assert turns(on(OTHER, kind, 2, 9)) == []


def test_a_main_thread_that_trains_meanwhile_keeps_them() -> None:
    """The other one trains beside it."""
    assert turns(on(MAIN, "fit", 1, 5), on(OTHER, "fit", 4, 9)) == []


def test_a_main_thread_that_trained_before_keeps_that_time() -> None:
    """The other one validates what it gave it."""
    assert turns(on(MAIN, "fit", 1, 5), on(OTHER, "evaluate", 5, 9)) == [(OTHER, 5, 9)]


def test_where_the_thread_pauses_and_the_main_one_does_something_it_is_the_main_ones_time() -> None:
    """It makes the next model; a pause in which nothing was seen of it stays the thread's."""
    jobs = [on(OTHER, "fit", 1, 3), on(OTHER, "fit", 5, 6), on(OTHER, "fit", 7, 8)]
    assert turns(*jobs, on(MAIN, "construct", 3.5, 4.5)) == [(OTHER, 1, 3), (OTHER, 5, 8)]


def test_what_the_main_thread_does_before_and_after_the_work_is_its_own() -> None:
    """It imports until 2.5 s, while the other builds a model; it saves from 8 s on, while that one frees it."""
    others = [on(OTHER, "construct", 2, 4), on(OTHER, "fit", 4, 7), on(OTHER, "save", 7, 9)]
    assert turns(on(MAIN, "import", 1, 2.5), *others, on(MAIN, "save", 8, 9.5)) == [(OTHER, 2.5, 8)]


def test_of_two_that_train_at_a_time_the_one_that_does_it_for_longer_has_them() -> None:
    """The other one's later training is its own."""
    both = [on(OTHER, "fit", 1, 5), on(8, "fit", 2, 9), on(9, "fit", 9, 9.5)]
    assert turns(*both) == [(8, 2, 9), (9, 9, 9.5)]


def test_threads_that_had_one_number_in_turn_have_turns_of_their_own() -> None:
    """Python gives the number of a thread that has ended to the next; each has its name and its number for the system."""
    rows = [on(MAIN, "script", 0, 10), on(OTHER, "fit", 1, 2, number=5), on(OTHER, "fit", 3, 4, number=9)]
    rows[2]["thread"] = "Thread-8"
    found = phase_turns.found(
        [runs.table("spans", rows)], [], MAIN, lambda _threads, spans: np.where(spans < 9, 0, 1), [501, 502]
    )

    assert [(one.thread, one.thread_id, one.system_id) for one in found] == [
        ("Thread-7", OTHER, 501),
        ("Thread-8", OTHER, 502),
    ]


def test_where_the_main_thread_is_not_known_nobody_else_has_any() -> None:
    """A stream of marks."""
    assert turns(on(OTHER, "fit", 2, 9), main=None) == []


def test_of_many_turns_those_with_most_work_are_kept() -> None:
    """A server has a thread for each request: 256 are enough."""
    asked = [on(100 + n, "predict", n / 100, n / 100 + (0.005 if n else 0.001)) for n in range(300)]
    found = turns(*asked)

    assert len(found) == 256
    assert found[0][0] == 101


def test_when_threads_were_seen_to_do_something() -> None:
    """The script itself, and what dlprof does, are nothing."""
    rows = [on(MAIN, "script", 0, 10), on(MAIN, "dlprof", 1, 2), on(OTHER, "construct", 2, 3), on(OTHER, "fit", 2.5, 4)]

    assert {number: one.times for number, one in phase_turns.busy([runs.table("spans", rows)], []).items()} == {
        OTHER: ((2 * S, 4 * S),)
    }


def test_steps_of_a_loop_without_time_of_its_own_are_work() -> None:
    """`train_on_batch`, from 2 s to 4 s."""
    rows = [on(MAIN, "script", 0, 10), on(OTHER, "on_batch", 2, 2, number=9)]
    steps = runs.table(
        "steps", [{**one, "loop_id": 9} for one in runs.steps(100, start_s=2.0, dur_ms=20.0, thread_id=OTHER)]
    )
    found = phase_turns.found([runs.table("spans", rows)], [steps], MAIN, alike)

    assert [(one.thread_id, one.start_ns, one.end_ns) for one in found] == [(OTHER, 2 * S, 4 * S)]
