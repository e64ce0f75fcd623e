"""What Keras 2 and Keras 3 have in common: facts of models and loops, step functions, callbacks of the user's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.hooks import keras_common
from dlprof_probes.inproc.hooks.keras_common import steps_are_keras_own
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded

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


def layer(name: str, **parts: Any) -> Any:
    """A layer, with what is inside it."""
    return SimpleNamespace(name=name, call=None, **parts)


def test_layers_are_told_with_those_inside_them() -> None:
    """Nested models, and what wrappers such as TimeDistributed and Bidirectional hold; each once."""
    inner = layer("inner", layers=[layer("a")])
    wrapper = layer("wrapper", layer=layer("wrapped"))
    both = layer("both", forward_layer=layer("forth"), backward_layer=layer("back"))
    model = SimpleNamespace(name="model", layers=[inner, wrapper, both, inner])

    facts = keras_common.model_facts(model)

    assert [one["name"] for one in facts["layers"]] == ["inner", "a", "wrapper", "wrapped", "both", "back", "forth"]
    assert facts["models"] == ["model", "inner"]
    assert "optimizer" not in facts


def test_an_optimiser_is_told_by_name_and_class() -> None:
    """One of Keras 2 has no name."""
    model = SimpleNamespace(layers=[], optimizer=SimpleNamespace(name="sgd"))
    assert keras_common.model_facts(model)["optimizer"] == {"name": "sgd", "class": "SimpleNamespace"}

    model.optimizer = SimpleNamespace()
    assert keras_common.model_facts(model)["optimizer"] == {"name": None, "class": "SimpleNamespace"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SimpleNamespace(_keras_history=()), True),
        ([SimpleNamespace(_keras_history=())], True),
        (type("KerasTensor", (), {})(), True),
        (type("KerasSymbol", (), {})(), True),
        ([], False),
        ([1.0], False),
        (None, False),
    ],
)
def test_which_values_are_symbolic(value: Any, expected: bool) -> None:
    """Those without data, or the first of a list."""
    assert keras_common.is_symbolic(value) is expected


def test_plain_numbers_of_logs_are_metrics() -> None:
    """Nothing is computed or waited for: a tensor is left out."""
    import numpy as np

    tensor = type("Tensor", (), {"__float__": lambda self: 1 // 0})()
    logs = {"a": 1, "b": 0.5, "c": np.float32(2), "d": np.zeros(3), "e": tensor, "f": "text", "g": np.zeros(())}

    assert keras_common.numbers(logs) == [("a", 1.0), ("b", 0.5), ("c", 2.0), ("g", 0.0)]
    assert keras_common.numbers(None) == []


def test_the_newest_values_of_history_are_metrics() -> None:
    """Without it there are none."""
    history: Any = type("History", (), {"history": {"loss": [2.0, 1.0], "empty": []}})()

    assert keras_common.last_of_history(SimpleNamespace(callbacks=[object(), history])) == [("loss", 1.0)]
    assert keras_common.last_of_history(SimpleNamespace(callbacks=[])) == []
    assert keras_common.last_of_history(SimpleNamespace()) == []


class Callback:
    """A callback whose class is in a file of the tests: the user's own here."""


def test_which_callbacks_run_code_of_the_user(probe: Probe) -> None:
    """By their class's file, by a method of a class without one, or by a function that was given to Keras'."""
    lambda_callback: Any = type("LambdaCallback", (), {"__module__": "json"})
    of_notebook: Any = type("Mine", (), {"__module__": "nowhere", "on_epoch_end": lambda self: None})
    given = lambda_callback()
    given.on_epoch_end = lambda *_args: None

    answers = [keras_common.is_users(probe, one) for one in (Callback(), of_notebook(), given, lambda_callback())]

    assert answers == [True, True, True, False]


@pytest.mark.parametrize(
    ("params", "facts", "planned"),
    [
        ({"epochs": 2, "steps": 5, "verbose": 1}, {"epochs": 2, "steps": 5}, [10]),
        (
            {"epochs": 3, "samples": 100, "batch_size": 32, "steps": None},
            {"epochs": 3, "batch_size": 32, "samples": 100},
            [12],
        ),
        ({"epochs": 3}, {"epochs": 3}, []),
        ({"verbose": 1.5}, {}, []),
        (None, {}, []),
    ],
)
def test_what_keras_says_of_a_loop(probe: Probe, out: Recorded, params: Any, facts: Any, planned: list[int]) -> None:
    """And how many steps it will have, for the windows."""
    told: list[int] = []
    probe.windows = SimpleNamespace(planned=lambda _loop, steps: told.append(steps))
    loop = SimpleNamespace(span=out.begin("fit", "fit"))

    keras_common.describe_loop(probe, loop, params)

    assert next(iter(out.stream().spans.values())).detail == facts
    assert told == planned


class Model:
    """A model of keras-mxnet, which makes its step function anew for each batch."""

    train_function: Any = None

    def make_train_function(self) -> None:
        self.train_function = lambda batch: batch * 2


def test_a_step_function_that_is_made_again_compiles_nothing(probe: Probe, out: Recorded) -> None:
    """Only the first making is building, only its first call is a first one."""
    cls: Any = type("Made", (Model,), {"make_train_function": Model.make_train_function})
    keras_common.step_functions(probe, [cls], "make_%s_function")
    model = cls()
    loop = probe.loops.open(out.begin("fit", "fit"), "fit")
    results = []
    for batch in range(3):
        model.make_train_function()
        results.append(model.train_function(batch))
    probe.loops.close(loop)

    assert results == [0, 2, 4]
    assert [row for row in out.names() if row[0] == "build"] == [("build", "make_train_function")]
    assert [row[12] & 8 for row in out.stream().steps] == [8, 0, 0]


@pytest.mark.parametrize(("goes_on", "kept"), [(True, "function"), (False, "StepFunction")])
def test_a_model_gets_its_own_function_back_in_a_process_that_goes_on(probe: Probe, goes_on: bool, kept: str) -> None:
    """A script's process ends anyway."""
    cls: Any = type("Made", (Model,), {"make_train_function": Model.make_train_function})
    probe.goes_on = goes_on
    keras_common.step_functions(probe, [cls], "make_%s_function")
    model = cls()
    model.make_train_function()
    assert type(model.train_function).__name__ == "StepFunction"

    probe.end()

    assert type(model.train_function).__name__ == kept


def test_models_are_freed_as_without_the_probe(probe: Probe) -> None:
    """A script that makes many of them wants their memory back."""
    import gc
    import weakref

    cls: Any = type("Made", (Model,), {"make_train_function": Model.make_train_function})
    probe.goes_on = True
    keras_common.step_functions(probe, [cls], "make_%s_function")
    model = cls()
    model.make_train_function()
    held = weakref.ref(model)
    del model
    gc.collect()

    assert held() is None
    probe.end()
