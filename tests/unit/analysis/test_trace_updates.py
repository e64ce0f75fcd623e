"""Iterations of foreign traces in which several optimisers of one class update."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import trace_steps
from dlprof.analysis.trace_steps import Structure
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import MS


def update(at: float) -> Event:
    """A range of an update, 1 ms long."""
    return marked("Optimizer.step#Adam.step", at, 1)


def backward(name: str, at: float) -> Event:
    """An operator of a backward pass."""
    return Event("operator", name, at, 1, direction="backward")


def steps(path: Path, *events: Event) -> tuple[list[tuple[float, float]], Structure]:
    """Begin and end of each step (ms), and all that was found."""
    found = trace_steps.find(foreign(path, *events))
    assert found is not None
    return [(step.begin / MS, step.end / MS) for step in found.steps], found


def test_updates_without_a_backward_pass_between_them_are_of_one_iteration(tmp_path: Path) -> None:
    """Two optimisers that share the gradients of one pass."""
    events = [event for at in (0, 20, 40) for event in (backward("AddmmBackward0", at), update(at + 5), update(at + 7))]

    told, found = steps(tmp_path / "r", *events)

    assert told == [(8, 28), (28, 48)]
    assert found.how == "from the end of the last update by the optimisers of one iteration to that of the next"
    assert not found.may_share


def test_updates_whose_backward_passes_take_turns_are_of_one_iteration(tmp_path: Path) -> None:
    """A discriminator has two passes, a generator another one."""
    events = []
    for at in (0, 20, 40, 60):
        events += [backward("AddmmBackward0", at), backward("AddmmBackward0", at + 1), update(at + 5)]
        events += [backward("ReluBackward0", at + 8), update(at + 10)]

    told, _found = steps(tmp_path / "r", *events)

    assert told == [(11, 31), (31, 51), (51, 71)]


def test_updates_whose_backward_passes_are_alike_are_steps(tmp_path: Path) -> None:
    """One optimiser, and as many steps as it updated."""
    events = [event for at in (0, 20, 40, 60, 80) for event in (backward("AddmmBackward0", at), update(at + 5))]

    told, found = steps(tmp_path / "r", *events)

    assert told == [(6, 26), (26, 46), (46, 66), (66, 86)]
    assert found.how == "from the end of one update by the optimiser to the end of the next"
    assert not found.may_share


def test_other_work_that_takes_turns_is_a_doubt(tmp_path: Path) -> None:
    """It may be that of another network, or a loss that is printed every other step."""
    events = [event for at in range(0, 120, 20) for event in (backward("AddmmBackward0", at), update(at + 5))]
    printed = [Event("operator", "aten::item", at, 1) for at in (10, 50, 90)]

    told, found = steps(tmp_path / "r", *events, *printed)

    assert len(told) == 5
    assert found.may_share


def test_several_updates_of_one_kind_before_one_of_another_are_a_doubt(tmp_path: Path) -> None:
    """Whether an iteration is one update or three, no trace tells."""
    names = ["AddmmBackward0", "AddmmBackward0", "ReluBackward0"] * 3
    events = [event for at, name in enumerate(names) for event in (backward(name, 20 * at), update(20 * at + 5))]

    told, found = steps(tmp_path / "r", *events)

    assert len(told) == 8
    assert found.may_share


def test_work_that_differs_without_taking_turns_is_no_doubt(tmp_path: Path) -> None:
    """Sequences of different lengths."""
    names = ["A", "B", "B", "A", "A", "A", "B", "A"]
    events = [event for at, name in enumerate(names) for event in (backward(name, 20 * at), update(20 * at + 5))]

    told, found = steps(tmp_path / "r", *events)

    assert len(told) == 7
    assert not found.may_share


def test_work_that_takes_turns_only_twice_is_a_doubt(tmp_path: Path) -> None:
    """Sequences of two lengths may do so by chance."""
    names = ["A", "B", "A", "B", "A"]
    events = [event for at, name in enumerate(names) for event in (backward(name, 20 * at), update(20 * at + 5))]

    told, found = steps(tmp_path / "r", *events)

    assert len(told) == 4
    assert found.may_share
