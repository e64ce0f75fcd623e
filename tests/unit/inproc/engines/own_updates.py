"""A stand-in of `Watch` that keeps what an engine tells it of updates by hand, and of a probe that has it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc.patching import Patches
from dlprof_probes.inproc.probe import Probe


class Own:
    """Everything is called at one place of a program, under no Keras.

    Attributes:
        updates: How many were told.
        gradients: Losses of which gradients were taken that may be taken again.
    """

    def __init__(self) -> None:
        self.updates = 0
        self.gradients: list[Any] = []
        self.sites = SimpleNamespace(look=lambda _frame: SimpleNamespace(where=("train.py", 7)))

    def is_silent(self) -> bool:
        """Nobody says what runs."""
        return False

    def earlier(self, begin: int) -> Any:
        """Where the program is."""
        return SimpleNamespace(begin=begin, end=begin, where=("train.py", 7))

    def told(self, _engine: object, weights: Any) -> None:
        """These calls were updates."""
        self.updates += len(weights.earlier)
        weights.earlier = []

    def update(self, _engine: object, _weights: Any, _begin: int) -> None:
        """So was this one."""
        self.updates += 1

    def gradient(self, target: object, _begin: int) -> None:
        """One that can be taken again."""
        self.gradients.append(target)


def engine(own: Own, probe: Probe) -> Any:
    """An engine whose probe has that stand-in, and the real wrappers."""
    replace, wrappers = Patches().replace, probe.wrappers
    return SimpleNamespace(
        probe=SimpleNamespace(
            own_loops=own, calls=[0], guard=lambda hook, goes_on: hook, replace=replace, wrappers=wrappers
        )
    )
