"""Steps of the main thread, a batch of them at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dlprof.analysis.phase_spans import Interval, SpanTimes
from dlprof.analysis.phase_steps import COLUMNS, Step, StepBatch
from dlprof.analysis.phase_threads import PhaseThreads
from dlprof.schema.vocabulary import Loop, SpanKind
from tests.unit.runs import table

STEP = Step(Loop.TRAIN, SpanKind.FIT, 100, 50, 10, 8, 4, 105, 30, first=False, count=1)
"""Waits for its batch from 90 on; callbacks 5 before its call and 3 at its end, before which it waits 4."""


def told(step: Step) -> list[tuple[str, int, int]]:
    """The parts of a step that cover time."""
    return [(part.kind, part.start, part.end) for part in step.parts() if part.covers_time]


def test_a_step_is_cut_into_waiting_and_callbacks() -> None:
    """What is left is the step's own."""
    assert told(STEP) == [("input", 90, 100), ("callbacks", 100, 105), ("wait", 143, 147), ("callbacks", 147, 150)]


def test_the_first_call_compiles() -> None:
    """In training; a first call of others is told by a span."""
    assert told(replace(STEP, first=True))[-1] == ("graph_compile", 105, 135)
    assert told(replace(STEP, first=True, loop=Loop.TEST)) == told(STEP)


def test_callbacks_of_a_step_without_a_call_come_at_its_end() -> None:
    """Where the call was not seen, nothing is known of before it."""
    assert told(replace(STEP, call=0, input=0)) == [("wait", 138, 142), ("callbacks", 142, 150)]


def test_a_step_of_the_scripts_own_loop_is_a_whole() -> None:
    """Nothing of it is the script's time."""
    (part,) = replace(STEP, span=SpanKind.ON_BATCH).parts()
    assert part == Interval(100, 150, SpanKind.ON_BATCH, Loop.TRAIN)


def test_steps_of_calls_have_no_parts() -> None:
    """The whole call is one phase."""
    assert told(replace(STEP, span=SpanKind.EVALUATE, loop=Loop.TEST)) == []


def test_a_batch_gives_its_steps_back() -> None:
    """Each field by its column."""
    other = replace(STEP, loop=Loop.PREDICT, span=SpanKind.PREDICT, start=900, first=True, count=7)
    batch = StepBatch.of([STEP, other])
    assert [batch.step(row) for row in range(len(batch))] == [STEP, other]
    assert (batch.end.tolist(), batch.is_of(SpanKind.FIT).tolist()) == ([150, 950], [True, False])
    assert batch.is_in(Loop.PREDICT).tolist() == [False, True]


def test_rows_of_the_table_are_those_of_the_main_thread() -> None:
    """With the kind of the call that their loop is; an offset that is not known is none."""
    row = {"thread_id": 7, "loop": "train", "loop_id": 5, "count": 2, "start_ns": 100, "dur_ns": 50, "input_ns": 10}
    steps = table("steps", [row, {**row, "thread_id": 8}, {**row, "loop_id": 6, "start_ns": 200}])
    spans = SpanTimes(np.array([0]), np.array([999]), np.array([0]), ["fit"], np.array([5]))
    batch = StepBatch.of_table(steps.select(COLUMNS), PhaseThreads(7), spans)
    assert [(step.span, step.start, step.call_start, step.count) for step in map(batch.step, range(len(batch)))] == [
        ("fit", 100, 100, 2),
        ("on_batch", 200, 200, 2),
    ]


@pytest.mark.parametrize(
    ("begin", "expected"),
    [(100, [True, False]), (149, [True, False]), (150, [False, False]), (200, [False, True]), (99, [False, False])],
)
def test_a_step_that_a_span_begins_in_has_something_inside(begin: int, expected: list[bool]) -> None:
    """From its begin on, and before its end."""
    batch = StepBatch.of([STEP, replace(STEP, start=200)])
    assert batch.with_something_inside(np.array([begin])).tolist() == expected


def test_first_calls_have_something_inside_and_spans_before_are_of_an_earlier_batch() -> None:
    """The span at 60 begins before the first step."""
    batch = StepBatch.of([STEP, replace(STEP, start=200, first=True)])
    assert batch.with_something_inside(np.array([60])).tolist() == [False, True]


def test_a_step_has_something_inside_that_begins_before_steps_in_it() -> None:
    """As of a callback that predicts: the span of the call begins before its steps, and these end before the outer one."""
    nested = [replace(STEP, start=120, dur=10), replace(STEP, start=135, dur=10)]
    batch = StepBatch.of([replace(STEP, start=40), *nested, STEP, replace(STEP, start=200)])
    assert batch.with_something_inside(np.array([110])).tolist() == [False, False, False, True, False]
