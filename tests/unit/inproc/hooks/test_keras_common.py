"""What the hooks tell of a model's steps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.hooks.keras_common import steps_are_keras_own

STEPS = {name: lambda self: None for name in ("train_step", "test_step", "compute_loss", "compute_metrics")}
KERAS = type("Model", (), {"__module__": "keras.src.models.model", **STEPS})


@pytest.mark.parametrize("name", sorted(STEPS))
def test_one_method_of_the_users_makes_a_step_no_step_of_keras_own(name: str) -> None:
    """Whatever it overrides may do work outside every scope."""
    mine: Any = type("Mine", (KERAS,), {"__module__": "__main__", name: lambda self: None})

    assert not steps_are_keras_own(mine())


def test_a_model_with_other_methods_of_the_users_keeps_keras_own_steps() -> None:
    """Such as `call`: that has the model's scope."""
    mine: Any = type("Mine", (KERAS,), {"__module__": "__main__", "call": lambda self: None})

    assert steps_are_keras_own(mine())


def test_a_penalty_on_a_weight_works_outside_every_scope() -> None:
    """Keras adds it to the loss there."""
    model = KERAS()
    model.trainable_weights = [SimpleNamespace(regularizer=None), SimpleNamespace(regularizer=lambda weight: 0.0)]

    assert not steps_are_keras_own(model)


def test_a_keras_whose_steps_are_no_methods_tells_nothing() -> None:
    """Keras 2.3 builds its training function otherwise."""
    assert not steps_are_keras_own(type("Model", (), {"__module__": "keras.engine.training"})())
