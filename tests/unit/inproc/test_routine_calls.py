"""Calls for little, from one line, again and again: what of them is recorded, and which are looked at in full."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
import pytest
from dlprof_probes import wire
from dlprof_probes.inproc import routine_calls
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Clock, Recorded

ROW = np.zeros((1, 4), "float32")
MS = 1_000_000


class Predicting:
    """A class of models whose calls are hooked, and how often what it calls inside was looked at."""

    def __init__(self, probe: Probe, now: Clock) -> None:
        self.looked = 0
        self.lasts = MS
        self.inside: Callable[[], object] = lambda: None

        class Model:
            def __init__(model) -> None:  # noqa: N805
                model._layers: list[Any] = []
                model.predict_function: Any = None

            def prepare(model) -> None:  # noqa: N805
                """Hooked, too."""
                self.inside()

            def predict(model, x: Any, y: Any = None, verbose: int = 0) -> int:  # noqa: N805
                model.prepare()
                now.ns += self.lasts
                return len(x) + verbose

        probe.describe_model = lambda _model: {"layers": [], "models": ["m"]}
        probe.loop(Model, "predict", wire.SpanKind.PREDICT)
        look = lambda _result, _args: self.look()  # noqa: E731
        wrap = lambda f: probe.wrappers.after(f, look)  # noqa: E731
        probe.passing_by(Model, "prepare", lambda: probe.replace(Model, "prepare", wrap))
        self.model = Model()
        self.other = Model()

    def look(self) -> None:
        """The hook inside of a call."""
        self.looked += 1


@pytest.fixture
def predicting(probe: Probe, now: Clock) -> Predicting:
    """A model that is hooked."""
    return Predicting(probe, now)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind three that are like the one before them, four of five are passed by."""
    monkeypatch.setattr(routine_calls, "AFTER", 3)
    monkeypatch.setattr(routine_calls, "IN_FULL", 5)


def test_calls_that_are_alike_are_looked_at_in_full_now_and_then(predicting: Predicting, out: Recorded) -> None:
    """The first five (one tells the model, three are like the one before), and each fifth of the others.

    Each has its span, all with the same line and facts.
    """
    for _ in range(24):
        assert predicting.model.predict(ROW, verbose=2) == 3

    spans = list(out.stream().spans.values())
    assert predicting.looked == 5 + 3
    assert [(span.kind, span.end - span.start) for span in spans if span.end] == [("predict", MS)] * 24
    assert len({(span.file, span.line, str(span.detail)) for span in spans}) == 1
    assert spans[-1].detail == {"model": {"layers": [], "models": ["m"]}}


def test_another_shape_is_looked_at(predicting: Predicting) -> None:
    """The eleventh has other rows; what comes behind it begins anew: four until three are alike, and the last one."""
    for number in range(20):
        predicting.model.predict(np.zeros((2 if number == 10 else 1, 4), "float32"))

    assert predicting.looked == 5 + 1 + 1 + 4 + 1


def test_another_model_is_looked_at(predicting: Predicting) -> None:
    """Two of them in turn, from one line: none is like the one before."""
    for number in range(20):
        (predicting.other if number % 2 else predicting.model).predict(ROW)

    assert predicting.looked == 20


def test_other_settings_are_looked_at(predicting: Predicting) -> None:
    """They come in turn, too."""
    for number in range(20):
        predicting.model.predict(ROW, verbose=number % 2)

    assert predicting.looked == 20


def test_all_arrays_count(predicting: Predicting) -> None:
    """Inputs and targets: of the eleventh call the targets have another shape."""
    for number in range(20):
        predicting.model.predict(ROW, np.zeros((2 if number == 10 else 1,)))

    assert predicting.looked == 5 + 1 + 1 + 4 + 1


def test_nothing_that_a_call_was_given_is_held(probe: Probe, predicting: Predicting) -> None:
    """False before: targets that are given by name stayed in memory until the next call from that line."""
    targets = np.zeros(1)
    before = sys.getrefcount(targets), sys.getrefcount(ROW)
    for _ in range(20):
        predicting.model.predict(ROW, y=targets)

    assert (sys.getrefcount(targets), sys.getrefcount(ROW)) == before
    assert predicting.looked == 20


def test_another_step_function_is_looked_at(predicting: Predicting) -> None:
    """The eleventh call runs another one, as behind `compile`."""
    for number in range(20):
        predicting.model.predict_function = "compiled again" if number >= 10 else "compiled"
        predicting.model.predict(ROW)

    assert predicting.looked == 5 + 1 + 1 + 3 + 1


def test_what_is_no_array_is_looked_at(predicting: Predicting) -> None:
    """A list has no shape."""
    for _ in range(20):
        predicting.model.predict([[0.0]])

    assert predicting.looked == 20


def test_long_calls_are_looked_at(predicting: Predicting) -> None:
    """They can bear it."""
    predicting.lasts = 6 * MS
    for _ in range(20):
        predicting.model.predict(ROW)

    assert predicting.looked == 20


def test_behind_a_long_call_one_is_looked_at(predicting: Predicting) -> None:
    """The seventh; another program had the core in the sixth. Those behind it are told in short again."""
    for number in range(10):
        predicting.lasts = 6 * MS if number == 5 else MS
        predicting.model.predict(ROW)

    assert predicting.looked == 5 + 1


def test_calls_inside_of_something_else_are_looked_at(probe: Probe, predicting: Predicting) -> None:
    """A callback of a training that predicts."""
    for _ in range(20):
        span = probe.recorder.begin(wire.SpanKind.FIT, "fit")
        predicting.model.predict(ROW)
        probe.recorder.end(span)

    assert predicting.looked == 20


def test_a_call_that_fails_is_over(probe: Probe, predicting: Predicting) -> None:
    """The program's own exception passes, and the next call is recorded as ever."""
    arrays: list[Any] = [ROW] * 6 + [np.float32(1)]
    with pytest.raises(TypeError):
        for array in arrays:
            predicting.model.predict(array)

    assert probe.current_loop() is None
    assert probe.recorder.stack() == []
    assert probe.routine.inside == set()


def test_what_was_left_open_in_a_call_ends_with_it(probe: Probe, predicting: Predicting, out: Recorded) -> None:
    """A generator of the program's that was never gone through to its end, in a call that is told in short."""
    for number in range(7):
        if number == 6:
            predicting.inside = lambda: probe.recorder.begin(wire.SpanKind.SAVE, "late")
        predicting.model.predict(ROW)

    kind, name, begin, end = out.spans()[-1]
    assert (kind, name, None if end is None else end - begin) == ("save", "late", MS)
    assert probe.recorder.stack() == []
    assert probe.current_loop() is None


def test_a_loop_that_was_left_open_in_a_call_ends_with_it(predicting: Predicting, probe: Probe) -> None:
    """As where an exception came out of a hook inside of one that is told in short."""
    for number in range(7):
        if number == 6:
            predicting.inside = lambda: probe.loops.open(1, wire.SpanKind.EVALUATE)
        predicting.model.predict(ROW)

    assert probe.current_loop() is None
    assert probe.loops.depth() == 0


def test_it_is_said_how_many_were_told_in_short(probe: Probe, predicting: Predicting, out: Recorded) -> None:
    """Of 24 calls 16."""
    for _ in range(24):
        predicting.model.predict(ROW)
    probe.routine.finish()

    ((slug, text),) = out.notes()
    assert slug == "routine-calls"
    assert text.startswith("16 of 24 calls of predict and evaluate were like those before them")


def test_nothing_is_said_where_none_were(probe: Probe, predicting: Predicting, out: Recorded) -> None:
    """A script that predicts once."""
    predicting.model.predict(ROW)
    probe.routine.finish()

    assert out.notes() == []


def test_what_was_seen_of_calls_is_that_of_a_thread(probe: Probe, predicting: Predicting) -> None:
    """One with the same number has made none."""
    for _ in range(12):
        predicting.model.predict(ROW)
    short = probe.routine.short
    probe.routine.thread_ended(get_ident())
    predicting.model.predict(ROW)

    assert (short > 0, probe.routine.short - short) == (True, 0)


def test_hooks_inside_are_taken_off_where_a_call_is_one_step(probe: Probe, predicting: Predicting, now: Clock) -> None:
    """The stand-in for the step function tells that; a call in full has its hooks again."""
    predicting.model.predict_function = probe.wrappers.StepFunction(lambda: None, probe.loops.current, lambda: now.ns)
    predicting.inside = predicting.model.predict_function
    off = []
    for _ in range(10):
        predicting.model.predict(ROW, verbose=0)
        off.append(probe.loops.lifted.are_off)

    assert off == [False] * 5 + [True] * 4 + [False]


@pytest.mark.parametrize(("steps", "verbose"), [(2, 0), (1, 1)])
def test_hooks_stay_where_more_is_to_be_told(
    probe: Probe, predicting: Predicting, now: Clock, steps: int, verbose: int
) -> None:
    """What a call of several steps waits for between them, and what one that shows its progress does for that."""
    step = probe.wrappers.StepFunction(lambda: None, probe.loops.current, lambda: now.ns)
    predicting.model.predict_function = step
    predicting.inside = lambda: [step() for _ in range(steps)]
    for _ in range(8):
        predicting.model.predict(ROW, verbose=verbose)

    assert not probe.loops.lifted.are_off


def test_a_training_has_its_hooks_again(probe: Probe, predicting: Predicting, now: Clock) -> None:
    """It may begin on any thread."""
    step = predicting.model.predict_function = probe.wrappers.StepFunction(
        lambda: None, probe.loops.current, lambda: now.ns
    )
    predicting.inside = step
    for _ in range(8):
        predicting.model.predict(ROW, verbose=0)
    was_off = probe.loops.lifted.are_off

    probe.loops.open(99, wire.SpanKind.FIT)

    assert (was_off, probe.loops.lifted.are_off) == (True, False)


def test_calls_that_were_alike_for_long_are_looked_at_rarely(
    predicting: Predicting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nineteen are passed by here, behind two in full that were alike, too."""
    monkeypatch.setattr(routine_calls, "KNOWN_AFTER", 2)
    monkeypatch.setattr(routine_calls, "IN_FULL_LATER", 20)

    for _ in range(5 + 5 + 5 + 19):
        predicting.model.predict(ROW, verbose=2)

    assert predicting.looked == 5 + 2
