"""Arrays of MXNet that a program writes to itself, between backward passes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.mxnet_by_hand import MXNetByHand
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.engines.own_updates import Own, engine


def classes() -> Any:
    """A stand-in of MXNet."""
    nothing = lambda *_args: None  # noqa: E731
    array = type(
        "NDArray", (), dict.fromkeys(("attach_grad", "backward", "__setitem__", "__isub__", "__iadd__"), nothing)
    )
    autograd = type("autograd", (), {"backward": nothing, "mark_variables": nothing})
    return SimpleNamespace(nd=SimpleNamespace(NDArray=array), autograd=autograd)


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def watched(own: Own, probe: Probe) -> tuple[Any, MXNetByHand]:
    """A stand-in of MXNet, and what listens to it."""
    mxnet, by_hand = classes(), MXNetByHand(engine(own, probe))
    by_hand.watch(mxnet)
    return mxnet, by_hand


def test_writing_to_arrays_with_a_gradient_between_backward_passes_is_an_update(
    watched: tuple[Any, Any], own: Own
) -> None:
    """Four passes, `weight[:] = ...` behind each: four updates."""
    mxnet, _ = watched
    weight, loss = mxnet.nd.NDArray(), mxnet.nd.NDArray()
    weight.attach_grad()
    for _ in range(4):
        loss.backward()
        weight[:] = 1

    assert own.updates == 4


def test_parameters_of_gluon_are_such_arrays(watched: tuple[Any, Any], own: Own) -> None:
    """Their gradients are marked, all at once."""
    mxnet, _ = watched
    weight = mxnet.nd.NDArray()
    mxnet.autograd.mark_variables([weight])
    for _ in range(4):
        mxnet.autograd.backward([object()])
        weight[:] = 1

    assert own.updates == 4


def test_writing_to_other_arrays_is_none(watched: tuple[Any, Any], own: Own) -> None:
    """A statistic."""
    mxnet, _ = watched
    weight, mean, loss = mxnet.nd.NDArray(), mxnet.nd.NDArray(), mxnet.nd.NDArray()
    weight.attach_grad()
    for _ in range(4):
        loss.backward()
        mean[:] = 1

    assert own.updates == 0


def test_nothing_is_looked_at_once_a_trainer_was_made(watched: tuple[Any, Any], own: Own) -> None:
    """Its own updates count."""
    mxnet, by_hand = watched
    weight, loss = mxnet.nd.NDArray(), mxnet.nd.NDArray()
    weight.attach_grad()
    by_hand.optimiser_made()
    for _ in range(4):
        loss.backward()
        weight[:] = 1

    assert own.updates == 0
