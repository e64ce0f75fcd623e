"""The loops of a run by the lines that run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import loops
from dlprof.analysis.loops import FoundBy, LoopSummary
from tests.unit import runs
from tests.unit.runs import S

OWN = json.dumps({"how": "inferred"})


def step(loop_id: int, loop: str = "train", count: int = 1) -> dict[str, Any]:
    """Steps of a loop."""
    return {"thread_id": 1, "loop": loop, "loop_id": loop_id, "step": 0, "count": count, "start_ns": S, "dur_ns": 1}


def epoch(loop_id: int, number: int) -> dict[str, Any]:
    """An epoch of a loop."""
    return {"loop_id": loop_id, "epoch": number, "start_ns": S, "dur_ns": S, "steps": 1}


def test_loops_of_a_line_are_one_row(tmp_path: Path) -> None:
    """Folds of a cross-validation: their steps and epochs are summed."""
    spans = [
        runs.span("fit", 1, 2, name="fit", span_id=1, file="train.py", line=7, detail=OWN),
        runs.span("fit", 2, 3, name="fit", span_id=2, file="train.py", line=7, detail=OWN),
        runs.span("evaluate", 3, 4, name="evaluate", span_id=3, file="train.py", line=9, detail=OWN),
    ]
    rows = [step(1), step(1), step(2), step(3, "test", 5)]
    epochs = [epoch(1, 0), epoch(1, 1), epoch(2, 0)]

    assert loops.of_run(runs.make(tmp_path / "r", spans=spans, steps=rows, epochs=epochs)) == (
        LoopSummary("fit", FoundBy.INFERRED, "train.py", 7, 3, 3, 2),
        LoopSummary("evaluate", FoundBy.INFERRED, "train.py", 9, None, 5, 1),
    )


def test_what_does_not_say_how_it_was_found_is_of_keras(tmp_path: Path) -> None:
    """Where the run has a Keras; else of marks. A loop without a step is none."""
    spans = [
        runs.span("on_batch", 1, 1, name="train_on_batch", span_id=1),
        runs.span("fit", 2, 3, name="fit", span_id=2),
    ]
    tables: Any = {"spans": spans, "steps": [step(1)]}

    with_keras = loops.of_run(runs.make(tmp_path / "a", **tables))
    without = loops.of_run(runs.make(tmp_path / "b", runs.manifest(keras=None), **tables))

    assert [(one.name, one.how, one.steps) for one in with_keras] == [("train_on_batch", FoundBy.KERAS, 1)]
    assert [one.how for one in without] == [FoundBy.MARKS]


def test_marks_beside_keras_say_so(tmp_path: Path) -> None:
    """In the detail of their span."""
    spans = [runs.span("fit", 2, 3, name="fit", span_id=2, detail=json.dumps({"how": "marks"}))]

    (found,) = loops.of_run(runs.make(tmp_path / "r", spans=spans, steps=[step(2)]))

    assert found.how is FoundBy.MARKS


@pytest.mark.parametrize(
    ("how", "input_ns", "inside"), [("inferred", 5, False), ("inferred", None, True), ("keras", 5, True)]
)
def test_a_loop_of_the_scripts_own_that_waits_before_its_steps_fetches_nothing_inside(
    how: str, input_ns: int | None, inside: bool, tmp_path: Path
) -> None:
    """On TensorFlow, where Keras' steps fetch their batches; where no wait was measured, nobody knows."""
    told = runs.manifest()
    told["backend"]["input_inside_step"] = True
    span = runs.span("fit", 1, 2, name="fit", span_id=1, detail=json.dumps({"how": how}))
    steps = [{**step(1), "input_ns": input_ns}]

    run = runs.make(tmp_path / "r", told, spans=[span], steps=steps)

    assert loops.fetches_inside_steps(run) is inside


@pytest.mark.parametrize(
    ("name", "detail", "of_keras"),
    [("fit", None, True), ("fit", OWN, False), ("train_on_batch", None, None), ("evaluate", None, None)],
)
def test_keras_or_the_script_trains(name: str, detail: str | None, of_keras: bool | None, tmp_path: Path) -> None:
    """`train_on_batch` is a step of Keras in a loop of the script's own: neither of both."""
    spans = [runs.span("fit", 1, 2, name=name, span_id=1, detail=detail)]

    assert loops.who_trains(runs.make(tmp_path / "r", spans=spans, steps=[step(1)])) is of_keras
