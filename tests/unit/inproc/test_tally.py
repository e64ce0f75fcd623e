"""Hits of lines, apart by how they were counted."""

from __future__ import annotations

from typing import Any

from dlprof_probes.inproc.tally import Tally, place, place_of

STEP = ("train.py", 3, "step")
LOAD = ("train.py", 9, "load")


def test_what_was_counted_all_the_time_stays_as_it_is() -> None:
    """Each difference is taken once."""
    counts: dict[Any, Any] = {STEP: [(4, 10, 250)]}
    made = Tally(lambda: counts)
    made.exact()
    counts[STEP] = [(4, 15, 300)]
    made.exact()

    assert made.functions() == [(STEP, [[4, 15, 300]], [])]
    assert made.touched == set()


def test_what_was_counted_in_windows_is_scaled() -> None:
    """5 hits in a hundredth of the time are 500; the 10 before were all."""
    counts: dict[Any, Any] = {STEP: [(4, 10, 250)]}
    made = Tally(lambda: counts)
    made.exact()
    counts[STEP] = [(4, 15, 300)]
    made.windows(100.0)

    assert made.functions() == [(STEP, [[4, 10, 250]], [[4, 5, 500, 5000]])]
    assert made.touched == {STEP}


def test_a_function_that_did_not_run_in_a_window_is_exact() -> None:
    """It is not touched by the windows of another."""
    counts: dict[Any, Any] = {STEP: [(4, 1, 1)], LOAD: [(10, 1, 1)]}
    made = Tally(lambda: counts)
    made.exact()
    counts[STEP] = [(4, 2, 2)]
    made.windows(10.0)

    assert made.touched == {STEP}


def test_hits_that_a_census_saw_count_as_those_of_a_window() -> None:
    """The profiler did not see them."""
    counts: dict[Any, Any] = {STEP: []}
    made = Tally(lambda: counts)
    made.windows(10.0, [((STEP, 4), 3)])

    assert made.functions() == [(STEP, [], [[4, 3, 30, 0]])]


def test_without_a_window_nothing_is_scaled() -> None:
    """Keras ran all the time."""
    made = Tally(lambda: {STEP: [(4, 1, 1)]})
    made.windows(None)

    assert made.functions() == [(STEP, [], [])]


def test_a_function_in_the_first_line_of_a_file_is_not_the_file_s_own_code() -> None:
    """Both begin there; a version of line_profiler that tells qualified names means the same function."""
    made = compile("def first(): pass", "train.py", "exec")

    assert place(made) != place(made.co_consts[0])
    assert place_of(("train.py", 1, "Data.first")) == place(made.co_consts[0])
