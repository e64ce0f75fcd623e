"""Which kernels and operators began in a phase."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.analysis import kernel_phases
from dlprof.errors import UsageError
from dlprof.schema.manifest import Manifest
from dlprof.schema.vocabulary import RunState
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.analysis.rows import event, in_memory
from tests.unit.runs import table

EVENTS = table("kernel_events", [event(0, at, 5, phase=None) for at in (5, 10, 19, 20, 35, 49, 60)])


def traced() -> Run:
    """A foreign trace: training steps from 10 to 20 and from 30 to 50, one that only evaluates from 60 on."""
    steps = [(30, 20, "train"), (10, 10, "train"), (60, 5, "test")]
    rows = [
        {**runs.steps(1)[0], "loop": loop, "start_ns": start, "dur_ns": dur, "step": n}
        for n, (start, dur, loop) in enumerate(steps)
    ]
    return in_memory(Manifest(state=RunState.IMPORTED), kernel_events=EVENTS, steps=table("steps", rows))


@pytest.mark.parametrize(
    ("phase", "began"),
    [
        ("fit.steps", [False, True, True, False, True, True, False]),
        ("fit", [False, True, True, False, True, True, False]),
        ("evaluate", [False, False, False, False, False, False, True]),
        ("predict", [False] * 7),
    ],
)
def test_of_a_foreign_trace_the_steps_tell(phase: str, began: list[bool]) -> None:
    """In whatever order they are; an end is no part of a step."""
    assert kernel_phases.began_in(traced(), EVENTS, phase).tolist() == began


def test_phases_that_there_are_can_be_asked_for() -> None:
    """By their whole names, and by what these begin with."""
    assert kernel_phases.known(traced()) == ["evaluate.steps", "fit.steps"]
    kernel_phases.require(traced(), "fit")


@pytest.mark.parametrize("phase", ["nope", "fit.ste", "fit.steps.more"])
def test_a_phase_that_no_run_has_is_refused(phase: str) -> None:
    """With those that there are; one that others have is only not there."""
    with pytest.raises(UsageError, match=f"There is no phase {phase}") as caught:
        kernel_phases.require(traced(), phase)
    assert caught.value.hint == "run has evaluate.steps, fit.steps"
    kernel_phases.require(traced(), "predict")


def test_a_run_of_dlprofs_own_has_its_phases() -> None:
    """Each execution says which."""
    events = table("kernel_events", [event(0, 5, 5, phase=one) for one in ("fit.steps", "fits", "script")])
    phases: list[dict[str, Any]] = [{"phase": name, "parent": None, "dur_ns": 1, "count": 1} for name in ("fit.steps",)]
    run = in_memory(phases=table("phases", phases), kernel_events=events)

    assert kernel_phases.known(run) == ["fit.steps"]
    assert kernel_phases.began_in(run, events, "fit").tolist() == [True, False, False]
