"""Cutting the wall time into phases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlprof.analysis.phase_spans import Interval
from dlprof.analysis.phase_steps import Step
from dlprof.analysis.phases import Bounds, Phases, compute

BOUNDS = Bounds(wall=1000, boot=10, script_start=20, script_end=900)


def durations(found: Phases) -> dict[str, int]:
    """Duration by phase."""
    return {phase.name: phase.dur_ns for phase in found.phases}


def step(start: int, dur: int, **changes: object) -> Step:
    """A training step of fit."""
    values = {
        "loop": "train", "span": "fit", "start": start, "dur": dur, "input": 0, "callbacks": 0, "wait": 0,
        "call_start": start, "call": dur, "first": False, "count": 1, **changes,
    }  # fmt: skip
    return Step(**values)  # type: ignore[arg-type]


def test_a_script_without_keras_is_startup_dlprof_script_and_teardown() -> None:
    """The four parts of a process's life."""
    found = durations(compute([], [], BOUNDS))

    assert found == {"startup": 10, "script": 880, "teardown": 100, "dlprof": 10}


def test_what_a_process_did_before_the_probe_came_and_after_it_is_not_known() -> None:
    """It is no start, and no end."""
    bounds = Bounds(wall=1000, boot=10, script_start=20, script_end=900, goes_on=True)
    found = compute([], [], bounds)

    assert (durations(found), found.unattributed_ns) == ({"script": 880, "dlprof": 10}, 110)


def test_after_the_end_of_what_is_known_nothing_is_a_phase() -> None:
    """Also where a damaged step says that its call took longer, or began later."""
    bounds = Bounds(wall=1000, boot=10, script_start=20, script_end=None, told=800)
    steps = [step(600, 350, first=True), step(850, 100, first=True)]
    found = compute([], steps, bounds)

    assert found.unattributed_ns == 200


def test_without_a_stream_all_is_unattributed() -> None:
    """Nothing is guessed."""
    found = compute([], [], Bounds(wall=1000, boot=None, script_start=None, script_end=None))

    assert found.phases == ()
    assert found.unattributed_ns == 1000


def test_the_outermost_span_decides() -> None:
    """An import inside construct is construct."""
    spans = [Interval(100, 200, "construct"), Interval(120, 150, "import"), Interval(300, 340, "import")]

    found = durations(compute(spans, [], BOUNDS))

    assert found["construct"] == 100
    assert found["import"] == 40


def test_dlprofs_own_work_belongs_to_no_phase_of_the_user() -> None:
    """A stretch of kind dlprof is taken out of the phase around it."""
    found = durations(compute([Interval(100, 200, "fit"), Interval(110, 130, "dlprof")], [], BOUNDS))

    assert found["dlprof"] == 10 + 20
    assert found["fit"] == 80


def test_fit_is_the_sum_of_its_parts() -> None:
    """Input, callbacks, the first call and validation are told apart; the rest of the epoch is steps."""
    spans = [
        Interval(100, 800, "fit"),
        Interval(110, 120, "input"),
        Interval(130, 140, "build"),
        Interval(150, 700, "epoch"),
        Interval(150, 160, "callbacks"),
        Interval(600, 680, "evaluate"),
    ]
    steps = [
        step(180, 100, input=20, callbacks=10, call_start=185, call=80, first=True),
        step(300, 100, input=20, callbacks=30, call_start=310, call=60),
    ]

    found = compute(spans, steps, BOUNDS)

    parts = durations(found)
    assert parts["fit"] == 700
    assert parts["fit.input"] == 10 + 20 + 20
    assert parts["fit.graph_compile"] == 80
    assert parts["fit.callbacks"] == 10 + 10 + 30
    assert parts["fit.validation"] == 80
    assert parts["fit.build"] == 40
    assert parts["fit.steps"] == 700 - 50 - 80 - 50 - 80 - 40


def test_waits_for_the_device_are_told_from_callbacks() -> None:
    """In ordinary steps, in first ones, between the epochs, and at the beginning of a validation."""
    spans = [
        Interval(100, 800, "fit"),
        Interval(150, 700, "epoch"),
        Interval(600, 640, "evaluate"),
        Interval(600, 625, "wait"),
        Interval(610, 615, "build"),
        Interval(650, 690, "callbacks"),
        Interval(660, 670, "wait"),
    ]
    steps = [
        step(180, 100, callbacks=10, wait=5, call_start=180, call=80, first=True),
        step(300, 100, callbacks=30, wait=40, call_start=300, call=20),
    ]

    found = compute(spans, steps, BOUNDS)

    parts = durations(found)
    assert parts["fit.wait"] == 5 + 40 + 20 + 10
    assert parts["fit.callbacks"] == 10 + 30 + 30
    assert parts["fit.validation"] == 5 + 15
    assert parts["fit"] == 700


def test_a_wait_in_a_step_of_the_script_is_told_from_it() -> None:
    """`train_on_batch` gives numbers."""
    found = durations(compute([], [step(200, 100, span="on_batch", wait=60)], BOUNDS))

    assert (found["fit.steps"], found["fit.wait"]) == (40, 60)


def test_saving_inside_a_callback_of_a_step_is_callbacks() -> None:
    """A checkpoint at the end of a batch is not a phase of its own."""
    spans = [Interval(100, 500, "fit"), Interval(100, 500, "epoch"), Interval(250, 280, "save")]
    steps = [step(200, 100, callbacks=50, call_start=200, call=50)]

    found = durations(compute(spans, steps, BOUNDS))

    assert "save" not in found
    assert found["fit.callbacks"] == 50


def test_a_prediction_in_a_callback_of_a_step_is_of_the_callback_and_counted_once() -> None:
    """Its own steps end before the step that it is called in, and come before it in the table."""
    spans = [Interval(100, 800, "fit"), Interval(100, 800, "epoch"), Interval(345, 495, "predict")]
    inner = step(360, 100, loop="predict", span="predict")
    found = durations(compute(spans, [step(100, 200), inner, step(300, 200, call=20, callbacks=160)], BOUNDS))
    assert (found["fit.steps"], found["fit.callbacks"], found["fit"]) == (540, 160, 700)


def test_train_on_batch_counts_as_fit_and_the_loop_around_it_as_script() -> None:
    """Two steps of the user's own loop."""
    steps = [step(100, 50, span="on_batch"), step(200, 60, span="on_batch")]

    found = compute([Interval(90, 90, "on_batch")], steps, BOUNDS)

    assert durations(found)["fit.steps"] == 110
    assert durations(found)["script"] == 880 - 110
    assert next(phase.count for phase in found.phases if phase.name == "fit.steps") == 2


def test_a_recompilation_inside_a_step_is_graph_compilation() -> None:
    """Only the compilation moves; the rest of the call stays a step."""
    spans = [Interval(100, 500, "fit"), Interval(100, 500, "epoch"), Interval(220, 260, "graph_compile")]

    found = durations(compute(spans, [step(200, 100)], BOUNDS))

    assert found["fit.graph_compile"] == 40
    assert found["fit.steps"] == 360


def test_a_fit_that_was_cut_by_a_kill_lasts_to_the_end() -> None:
    """Its span was taken to last until the end of the process."""
    bounds = Bounds(wall=1000, boot=10, script_start=20, script_end=None)

    found = durations(compute([Interval(500, 1000, "fit"), Interval(600, 1000, "epoch")], [], bounds))

    assert found["fit"] == 500
    assert "teardown" not in found


KINDS = ("import", "construct", "fit", "epoch", "callbacks", "save", "dlprof", "evaluate", "graph_compile", "input")


@st.composite
def nested(draw: st.DrawFn, low: int = 20, high: int = 900, depth: int = 0) -> list[Interval]:
    """Properly nested spans."""
    marks = sorted(draw(st.sets(st.integers(low, high), max_size=6)))
    spans: list[Interval] = []
    for start, end in zip(marks[::2], marks[1::2], strict=False):
        spans.append(Interval(start, end, draw(st.sampled_from(KINDS))))
        if depth < 3:
            spans.extend(draw(nested(start, end, depth + 1)))
    return spans


@pytest.mark.slow
@given(nested())
def test_phases_never_overlap_and_sum_to_the_wall_time(spans: list[Interval]) -> None:
    """Whatever the spans: intervals follow each other without a gap, and the sums agree."""
    found = compute(spans, [], BOUNDS)

    position = 0
    for _, start, dur in found.intervals:
        assert start == position
        position += dur
    assert position == 1000
    assert sum(p.dur_ns for p in found.phases if p.parent is None) + found.unattributed_ns == 1000
