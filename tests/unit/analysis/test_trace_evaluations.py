"""Evaluations between the updates of a foreign trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import trace_evaluations, trace_steps
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import MS


def product(at: float, direction: str = "forward", **more: Any) -> Event:
    """A product of 1 ms."""
    return Event("operator", "mm", at, 1, **{"category": "matmul", "direction": direction, **more})


def update(at: float) -> Event:
    """The optimiser, for half a millisecond."""
    return marked("Optimizer.step#SGD.step", at, 0.5)


def step(at: float, *, passes: int = 0, back: int = 1) -> list[Event]:
    """Two products forward, some back, an update at 9 ms; before them passes forward alone, of 2 ms each."""
    evaluated = [product(at + n) for n in range(2 * passes)]
    trained = [product(at + 6), product(at + 7), *(product(at + 8, "backward") for _ in range(back))]
    return [*evaluated, *trained, update(at + 9)]


def spans(folder: Path, *parts: list[Event]) -> list[tuple[float, float]]:
    """Begin and end of the steps that are found in a trace of these (ms); each part has 10 ms."""
    run = foreign(folder / "r", update(-0.5), *(event for part in parts for event in part))
    found = trace_steps.find(run)
    assert found is not None
    return [(one.begin / MS, one.end / MS) for one in found.steps]


def test_an_evaluation_in_front_of_a_step_is_none_of_its(tmp_path: Path) -> None:
    """Two passes forward, up to 24 ms; the load of a batch behind it is still the step's."""
    found = spans(tmp_path, step(0), step(10), step(20, passes=2), step(30))

    assert found == [(0, 9.5), (9.5, 19.5), (24, 29.5), (29.5, 39.5)]


def test_a_step_that_goes_back_as_often_is_only_a_longer_one(tmp_path: Path) -> None:
    """Such as one of a longer sequence."""
    assert spans(tmp_path, step(0), step(10), step(20, passes=2, back=3), step(30))[2] == (19.5, 29.5)


def test_of_few_steps_none_is_the_usual_one(tmp_path: Path) -> None:
    """Two."""
    assert spans(tmp_path, step(0, passes=2), step(10)) == [(0, 9.5), (9.5, 19.5)]


def test_work_of_a_device_or_of_other_kinds_does_not_tell(tmp_path: Path) -> None:
    """It may run later, or be there for a batch."""
    more = [product(20 + n, device=0) for n in range(4)] + [product(22, category="elementwise")]

    assert spans(tmp_path, step(0), step(10), [*more, *step(20)], step(30))[2] == (19.5, 29.5)


def test_how_the_steps_were_told_says_so(tmp_path: Path) -> None:
    """What runs between updates takes turns then, but not as several optimisers do."""
    parts = [step(10 * n, passes=2 if n in (3, 6) else 0) for n in range(9)]
    run = foreign(tmp_path / "r", update(-0.5), *(event for part in parts for event in part))
    found = trace_steps.find(run)

    assert found is not None
    assert (found.how.partition("; ")[2], found.may_share) == ("2 without the evaluation in front of them", False)
    assert trace_evaluations.begins_behind(run, 0, []) == []
