"""Variables of TensorFlow that a program assigns itself, and tapes that tell their gradients."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import pytest
from dlprof_probes.inproc.engines.tensorflow_by_hand import TensorFlowByHand, Variables
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.engines.own_updates import Own, engine

TENSORFLOW = SimpleNamespace(inside_function=lambda: False, nest=SimpleNamespace(flatten=list))


class Variable:
    """Stands for a variable."""

    def assign_sub(self, _value: float) -> None:
        """Change it."""


class Tape:
    """Stands for a tape."""

    _persistent = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Record no more."""

    def gradient(self, _target: object, _sources: object) -> None:
        """Gradients."""

    def watched_variables(self) -> list[Variable]:
        """What was read while it recorded."""
        return []


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def by_hand(probe: Probe, own: Own, monkeypatch: pytest.MonkeyPatch) -> TensorFlowByHand:
    """It listens to classes of this test."""
    tapes, variables = ModuleType("tapes"), ModuleType("variables")
    vars(tapes)["GradientTape"] = type("GradientTape", (Tape,), dict(vars(Tape)))
    vars(variables)["ResourceVariable"] = type("ResourceVariable", (Variable,), dict(vars(Variable)))
    monkeypatch.setitem(sys.modules, "tensorflow.python.eager.backprop", tapes)
    monkeypatch.setitem(sys.modules, "tensorflow.python.ops.resource_variable_ops", variables)
    made = TensorFlowByHand(engine(own, probe), TENSORFLOW)
    made.watch()
    return made


def tape(persistent: bool = False) -> Any:
    """A new one."""
    made = sys.modules["tensorflow.python.eager.backprop"].GradientTape()
    made._persistent = persistent
    return made


def variable() -> Any:
    """A new one."""
    return sys.modules["tensorflow.python.ops.resource_variable_ops"].ResourceVariable()


@pytest.mark.usefixtures("by_hand")
def test_gradients_of_variables_that_are_assigned_between_are_updates(own: Own) -> None:
    """Four tapes, an assignment behind each: four updates."""
    weight = variable()
    for _ in range(4):
        with tape() as recorded:
            pass
        recorded.gradient(1.0, [weight])
        weight.assign_sub(0.1)

    assert own.updates == 4


@pytest.mark.usefixtures("by_hand")
def test_of_a_tape_that_is_kept_the_first_gradient_is_the_steps(own: Own) -> None:
    """One of each of three variables: four updates, not twelve, and all twelve are told to be of a tape that is kept."""
    weights = [variable() for _ in range(3)]
    for _ in range(4):
        with tape(persistent=True) as recorded:
            pass
        for weight in weights:
            recorded.gradient(1.0, [weight])
            weight.assign_sub(0.1)

    assert (own.updates, len(own.gradients)) == (4, 12)


@pytest.mark.usefixtures("by_hand")
def test_gradients_of_what_is_no_variable_are_of_no_training(own: Own) -> None:
    """Of a batch, as of a picture that is to be explained."""
    weight = variable()
    for _ in range(4):
        with tape() as recorded:
            pass
        recorded.gradient(1.0, [object()])
        weight.assign_sub(0.1)

    assert own.updates == 0


def test_what_an_optimiser_is_applied_to_is_not_told_by_hand(by_hand: TensorFlowByHand, own: Own) -> None:
    """Its own update counts."""
    weight = variable()
    for _ in range(4):
        with tape() as recorded:
            pass
        recorded.gradient(1.0, [weight])
        weight.assign_sub(0.1)
        by_hand.optimiser_applied()

    assert own.updates == 0


def test_variables_that_are_gone_are_counted_no_more() -> None:
    """Their numbers are given to other objects."""
    counts: dict[int, int] = {}
    weight: Any = Variable()
    held = Variables([weight], counts)
    assert (len(counts), held._trainable_variables) == (1, [weight])

    del weight

    assert (counts, held._trainable_variables) == ({}, [])
