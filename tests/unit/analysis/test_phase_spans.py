"""Spans and leaf phases of the main thread as columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dlprof.analysis.phase_spans import Interval, PhaseInterval, PhaseIntervals, SpanTimes
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import Phase, SpanKind
from tests.unit.runs import table


def spans(*rows: tuple[int, str, int, int], thread: int = 7) -> SpanTimes:
    """Those of the main thread 7: number, kind, begin and end."""
    told: list[dict[str, Any]] = [
        {"thread_id": thread, "span_id": n, "kind": kind, "start_ns": a, "dur_ns": b - a} for n, kind, a, b in rows
    ]
    return SpanTimes.of_tables([table("spans", told[:1]), table("spans", told[1:])], PhaseThreads(7))


def test_spans_that_cover_time_come_in_order_the_outer_ones_first() -> None:
    """The script itself, what has no length, and calls of steps do not cover any."""
    found = spans(
        (1, "script", 0, 99), (2, "epoch", 10, 20), (3, "fit", 10, 50), (4, "on_batch", 60, 70), (5, "save", 80, 80)
    )
    assert list(found.in_order()) == [Interval(10, 50, "fit"), Interval(10, 20, "epoch")]


def test_other_threads_are_left_out() -> None:
    """Their time is beside that of the main thread."""
    assert len(spans((1, "fit", 0, 9), thread=8)) == 0


def test_spans_are_counted_and_the_first_is_found_by_kind() -> None:
    """The first that was told."""
    found = spans((1, "fit", 10, 20), (2, "fit", 30, 40))
    assert (found.count(SpanKind.FIT), found.first(SpanKind.FIT)) == (2, (10, 20))
    assert (found.count(SpanKind.SAVE), found.first(SpanKind.SAVE)) == (0, None)


def test_what_may_be_inside_steps_is_told_by_its_begins() -> None:
    """Not what is around steps."""
    assert spans(
        (1, "fit", 0, 99), (2, "save", 50, 60), (3, "import", 20, 30), (4, "epoch", 1, 98)
    ).inside_steps().tolist() == [20, 50]


def test_a_loop_is_known_by_its_number() -> None:
    """One that is not known is the script's own."""
    found = spans((5, "fit", 0, 9), (3, "evaluate", 10, 19))
    numbers = np.array([3, 5, 4, 9])
    assert found.is_of(numbers, SpanKind.FIT).tolist() == [False, True, False, False]
    assert found.is_of(numbers, SpanKind.ON_BATCH).tolist() == [False, False, True, True]


def test_without_spans_all_loops_are_the_scripts_own() -> None:
    """A stream may hold nothing but steps."""
    assert SpanTimes.of([]).is_of(np.array([1]), SpanKind.ON_BATCH).tolist() == [True]


def test_neighbours_of_one_phase_are_one_stretch() -> None:
    """What has no length is passed over."""
    found = PhaseIntervals()
    for phase, begin, end in ((Phase.IMPORT, 0, 5), (Phase.SCRIPT, 5, 5), (Phase.IMPORT, 5, 9), (Phase.SCRIPT, 9, 12)):
        found.add(phase, begin, end)
    assert list(found) == [PhaseInterval(Phase.IMPORT, 0, 9), PhaseInterval(Phase.SCRIPT, 9, 3)]
    assert (len(found), found[1], found[:1]) == (2, (Phase.SCRIPT, 9, 3), [(Phase.IMPORT, 0, 9)])


def test_stretches_sum_by_phase() -> None:
    """With their number."""
    found = PhaseIntervals()
    for phase, begin, end in ((Phase.IMPORT, 0, 5), (Phase.SCRIPT, 5, 7), (Phase.IMPORT, 7, 8)):
        found.add(phase, begin, end)
    assert set(found.sums()) == {(Phase.IMPORT, 6, 2), (Phase.SCRIPT, 2, 1)}
    assert found.is_in(Phase.IMPORT).tolist() == [True, False, True]


def test_stretches_are_stored_by_column() -> None:
    """As the table `phase_intervals` has them."""
    found = PhaseIntervals()
    found.add(Phase.FIT_STEPS, 3, 10)
    assert found.table().to_pylist() == [{"phase": "fit.steps", "start_ns": 3, "dur_ns": 7}]


def test_no_place_behind_the_last_is_told() -> None:
    """As of any sequence."""
    with pytest.raises(IndexError):
        _ = PhaseIntervals()[0]
