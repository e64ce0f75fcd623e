"""Which gradients are followed by an update that a program makes by hand."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.inferred.by_hand import HandUpdates, Weights
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


@pytest.fixture
def updates(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> HandUpdates:
    """Those of an engine that describes nothing, in a process in which this file is the user's."""
    monkeypatch.setattr(probe.own_loops.sites, "_is_user_file", lambda path: path == __file__)
    nothing: Callable[..., None] = lambda *_: None  # noqa: E731
    engine = SimpleNamespace(
        probe=probe,
        name="none",
        alone=nothing,
        trained_layers=nothing,
        memory_of=nothing,
        trained_weights=nothing,
        after_training=dict,
    )
    return HandUpdates(engine)


def trained(updates: HandUpdates, changes: str) -> Weights:
    """Weights whose gradients are taken in a loop; a letter says of each call whether they changed before: `x`, or `-`."""
    weights = Weights()
    for place, change in enumerate(changes):
        if place == 0:
            updates.first_taken("here", weights, 1)
        else:
            updates.taken(weights, change == "x", 1)
    return weights


def steps(updates: Any, out: Recorded) -> int:
    """Steps in the stream."""
    updates._engine.probe.own_loops.finish()
    return out.stream().steps.steps


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ("-xxxx", 5),  # an update behind each gradient: the first, too
        ("--x--x--x", 4),  # three gradients are added up for one
        ("-x------", 0),  # one change: a perturbation, or weights that were loaded
        ("--------", 0),  # gradients alone
    ],
)
def test_gradients_behind_two_changes_are_of_a_training(
    updates: HandUpdates, out: Recorded, changes: str, expected: int
) -> None:
    """As many steps as updates; what is not known to be one is none."""
    trained(updates, changes)

    assert (steps(updates, out), out.notes()) == (expected, [])


def test_an_optimiser_that_is_applied_meanwhile_makes_an_end_of_it(updates: HandUpdates, out: Recorded) -> None:
    """A perturbation of weights before each of its updates is none itself."""
    for _ in range(4):
        trained(updates, "-x")
        updates.forget()

    assert steps(updates, out) == 0


def test_weights_that_never_change_are_not_looked_at_for_ever(updates: HandUpdates) -> None:
    """Such a program wants their gradients."""
    assert trained(updates, "-" * 64).is_worth_a_look() is False
    assert trained(updates, "-" + "x" * 100).is_worth_a_look() is True


def test_a_program_that_makes_new_weights_all_the_time_is_left_alone(updates: HandUpdates) -> None:
    """256 different ones without an update."""
    for number in range(256):
        assert updates.is_on
        updates.first_taken(number, Weights(), 1)

    assert updates.is_on is False


def test_an_optimiser_that_was_made_ends_it(updates: HandUpdates) -> None:
    """What changes weights from then on does so for its sake."""
    updates.end()

    assert (updates.is_on, updates.weights("here")) == (False, None)


def test_a_call_that_is_told_is_where_the_step_was(updates: HandUpdates, out: Recorded) -> None:
    """Of a tape: where it began to record, not where one of its gradients was taken, in an inner loop."""
    own, weights = updates._engine.probe.own_loops, Weights()
    for step in range(4):
        call = own.earlier(1)
        for inner in range(3):
            if inner == 0 and step == 0:
                updates.first_taken("here", weights, 1, call)
            elif inner == 0:
                updates.taken(weights, True, 1, call)

    assert steps(updates, out) == 4
