"""Gradients of JAX that are taken of other arrays each time, in the place of the last ones."""

from __future__ import annotations

import pytest
from dlprof_probes.inproc.engines.jax_by_hand import JAXByHand
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.engines.own_updates import Own, engine


class Array:
    """Stands for an array with a value."""


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def by_hand(own: Own, probe: Probe) -> JAXByHand:
    """Nothing was seen yet."""
    return JAXByHand(engine(own, probe), lambda one: isinstance(one, Array))


def test_arrays_in_the_place_of_those_that_are_gone_are_weights(by_hand: JAXByHand, own: Own) -> None:
    """Five gradients, new arrays behind each: five updates."""
    for _ in range(5):
        params = [Array(), Array()]
        by_hand.taken(params, 1)
        del params  # here a program makes the next ones of them

    assert own.updates == 5


def test_the_same_arrays_again_are_not_changed(by_hand: JAXByHand, own: Own) -> None:
    """Only their gradients are wanted."""
    params = [Array(), Array()]
    for _ in range(5):
        by_hand.taken(params, 1)

    assert own.updates == 0


def test_several_models_in_turn_are_not_one_that_is_trained(by_hand: JAXByHand, own: Own) -> None:
    """Somebody keeps them all."""
    models = [[Array(), Array()] for _ in range(5)]
    for params in models:
        by_hand.taken(params, 1)

    assert own.updates == 0


def test_one_array_alone_may_be_a_batch(by_hand: JAXByHand, own: Own) -> None:
    """As of pictures that are to be explained."""
    for _ in range(5):
        by_hand.taken([Array()], 1)

    assert own.updates == 0


def test_an_update_that_is_told_otherwise_counts_alone(by_hand: JAXByHand, own: Own) -> None:
    """That of optax, or of a compiled function."""
    for _ in range(5):
        by_hand.taken([Array(), Array()], 1)
        by_hand.forget()

    assert own.updates == 0
