"""What engines tell of updates becomes loops in the stream, with the loops of the code around the calls."""

from __future__ import annotations

from typing import Any

import pytest
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


class Engine:
    """Describes nothing."""

    name = "none"

    def alone(self) -> None:
        """Take no windows."""

    def trained_layers(self, _optimizer: object, _frames: list[Any]) -> None:
        """They are not known."""

    def memory_of(self, _optimizer: object, _frames: list[Any]) -> None:
        """Neither is that."""

    def trained_weights(self, _optimizer: object) -> None:
        """Nor are these."""

    def after_training(self) -> dict[str, Any]:
        """Nothing to say."""
        return {}


class State:
    """A state of weights, given by earlier calls."""

    earlier: Any = ()


class Optimizer:
    """Tells one from others."""


@pytest.fixture
def own(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The watch of a probe to which this file is the user's."""
    monkeypatch.setattr(probe.own_loops.sites, "_is_user_file", lambda path: path == __file__)
    return probe.own_loops


def steps(out: Recorded) -> int:
    """Steps in the stream."""
    return out.stream().steps.steps


def test_updates_in_a_loop_are_steps(own: Any, out: Recorded) -> None:
    """As many as were told."""
    engine, optimizer = Engine(), Optimizer()
    for _ in range(3):
        own.update(engine, optimizer)
    own.finish()

    assert (steps(out), out.notes()) == (3, [])


def test_the_call_before_the_first_that_repeats_is_a_step_too(own: Any, out: Recorded) -> None:
    """It is known to be one by the second; its frames are gone by then."""
    engine, state = Engine(), State()
    for number in range(3):
        if number == 0:
            state.earlier = [own.earlier(1)]
        else:
            own.repeated(engine, state)
    own.finish()

    assert (steps(out), out.notes()) == (3, [])
