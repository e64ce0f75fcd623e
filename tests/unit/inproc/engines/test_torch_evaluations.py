"""Gradients that a program switches off, and models of Keras that it only asks, in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_evaluations
from dlprof_probes.inproc.probe import Probe

ON = [True]
"""Whether gradients are taken."""


class Torch:
    """As much of it as is asked for."""

    __file__ = "/engine/torch/__init__.py"

    @staticmethod
    def is_grad_enabled() -> bool:
        """Whether gradients are taken."""
        return ON[0]


class Own:
    """Stands for `Watch`: keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def is_silent(self) -> bool:
        return False

    def gradients_off(self, _holder: object) -> None:
        self.told.append("off")

    def gradients_on(self, _holder: object, is_by_program: Any) -> None:
        import sys

        self.told.append(f"on by program: {is_by_program(sys._getframe(1))}")

    def evaluating(self) -> None:
        self.told.append("evaluating")

    def training(self) -> None:
        self.told.append("training")

    def asks_only(self) -> None:
        self.told.append("asks only")


@pytest.fixture
def own(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> Iterator[Own]:
    """The stand-in, of a probe to which this file is the user's."""
    made = Own()
    monkeypatch.setattr(probe, "own_loops", made)
    monkeypatch.setattr(probe, "is_user_file", lambda path: path == __file__)
    yield made
    ON[0] = True


def no_grad() -> Any:
    """A class as torch's, which nothing has hooked."""

    class Switch:
        def __enter__(self) -> None:
            ON[0] = False

        def __exit__(self, *_error: object) -> None:
            ON[0] = True

    return Switch


def run_as(path: str, text: str, **names: Any) -> None:
    """Run code of a file of that name."""
    exec(compile(text, path, "exec"), names)


def test_a_stretch_without_gradients_is_told_with_who_asked_for_it(probe: Probe, own: Own) -> None:
    """The program, also by a decorator of torch; or torch itself, in an optimiser."""
    switch = no_grad()
    torch = Torch()
    torch.autograd = SimpleNamespace(grad_mode=SimpleNamespace(no_grad=switch))  # type: ignore[attr-defined]
    torch_evaluations.watch(probe, torch)

    with switch():
        pass
    run_as("/engine/torch/utils/_contextlib.py", "with switch(): pass", switch=switch)
    run_as("/engine/torch/optim/sgd.py", "with switch(): pass", switch=switch)

    assert own.told == ["off", "on by program: True", "off", "on by program: True", "off", "on by program: False"]


class Growing:
    """Stands for `CallsWithoutGradients`."""

    is_on = False
    told = 0

    def gradients_off(self) -> None:
        """The program switches gradients off."""
        self.told += 1


def test_calls_of_models_are_looked_at_where_the_program_switches_gradients_off(probe: Probe, own: Own) -> None:
    """Not where torch does, in an optimiser; nor once they are looked at already."""
    switch, growing, torch = no_grad(), Growing(), Torch()
    torch.autograd = SimpleNamespace(grad_mode=SimpleNamespace(no_grad=switch))  # type: ignore[attr-defined]
    torch_evaluations.watch(probe, torch, growing)

    with switch():
        pass
    run_as("/engine/torch/optim/sgd.py", "with switch(): pass", switch=switch)
    growing.is_on = True
    with switch():
        pass

    assert growing.told == 1


def test_calls_of_keras_layers_say_whether_a_model_is_trained(probe: Probe, own: Own) -> None:
    """By their argument, or else by gradients that are on."""

    class Layer:
        def __call__(self, rows: int, training: bool | None = None) -> int:
            return rows

    torch_evaluations.watch_keras(probe, Torch(), Layer)
    layer = Layer()
    assert (layer(1), layer(2, training=True), layer(3, training=False)) == (1, 2, 3)
    ON[0] = False
    layer(4)

    assert own.told == ["training", "training", "evaluating", "asks only"]
