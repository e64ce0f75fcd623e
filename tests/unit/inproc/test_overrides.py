"""Settings that a trial run takes instead of the script's own."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.overrides import Overrides
from dlprof_probes.inproc.probe import Probe

from tests.stand_ins import keras_versions
from tests.unit.inproc.conftest import Recorded

ROWS, TARGETS = np.ones((8, 3), dtype="float32"), np.ones((8, 1), dtype="float32")


@pytest.fixture
def keras() -> Iterator[ModuleType]:
    """A Keras of this process."""
    with keras_versions.loaded("3") as module:
        yield module


def model(keras: Any) -> Any:
    """One layer."""
    inputs = keras.Input(shape=(3,))
    return keras.Model(inputs, keras.layers.Dense(1)(inputs))


def test_arguments_of_compile_take_the_place_of_the_script_s(keras: Any, probe: Probe) -> None:
    """Those that were told only."""
    Overrides(probe, {"steps_per_execution": 4, "jit_compile": True}).apply()
    made = model(keras)

    made.compile("sgd", "mse", steps_per_execution=1, run_eagerly=True)

    assert (made.steps_per_execution, made._jit_compile, made._run_eagerly) == (4, True, True)


def test_the_batch_size_of_fit_takes_the_place_of_the_script_s(keras: Any, probe: Probe) -> None:
    """8 rows are 2 steps instead of 4."""
    Overrides(probe, {"batch_size": 4}).apply()
    made, batches = model(keras), []

    class Counting(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            batches.append(batch)

    made.compile("sgd", "mse")
    made.fit(ROWS, TARGETS, batch_size=2, verbose=0, callbacks=[Counting()])

    assert batches == [0, 1]


@pytest.mark.parametrize("place", ["backend", "config"])
def test_a_setting_of_keras_is_set_and_stays(keras: Any, probe: Probe, place: str) -> None:
    """Whatever the script sets afterwards, and by which of its names."""
    Overrides(probe, {"floatx": "float16", "layout": "channels_first"}).apply()
    assert (keras.backend.floatx(), keras.backend.image_data_format()) == ("float16", "channels_first")

    getattr(keras, place).set_floatx("float64")
    getattr(keras, place).set_image_data_format("channels_last")
    assert (keras.backend.floatx(), keras.backend.image_data_format()) == ("float16", "channels_first")
    assert keras.config.dtype_policy().name == "float16"

    keras.backend.set_floatx("float32")


def test_a_policy_is_set_and_stays(keras: Any, probe: Probe) -> None:
    """The type of floats is the script's own then."""
    Overrides(probe, {"policy": "mixed_bfloat16"}).apply()

    keras.config.set_dtype_policy("float32")

    assert keras.config.dtype_policy().name == "mixed_bfloat16"
    keras.backend.set_floatx("float32")


def test_settings_are_applied_once(keras: Any, probe: Probe) -> None:
    """It is asked after every import."""
    overrides = Overrides(probe, {"steps_per_execution": 4})
    overrides.apply()
    wrapped = keras.Model.compile
    overrides.apply()

    assert keras.Model.compile is wrapped


def test_without_keras_there_is_nothing_to_set(probe: Probe, out: Recorded) -> None:
    """It may come later."""
    Overrides(probe, {"floatx": "float16"}).apply()

    assert out.notes() == []
    assert probe.patches._undo == []


def test_engines_take_their_own_settings(probe: Probe) -> None:
    """Once each, when they can."""
    applied: list[Any] = []

    class Engine:
        def __init__(self, name: str, settable: bool) -> None:
            self.name, self.settable = name, settable

        def is_settable(self, module: Any) -> bool:
            return self.settable

        def apply(self, module: Any, settings: Any) -> None:
            applied.append((self.name, module, settings))

    ready, early = Engine("ready", True), Engine("early", False)

    class Engines:
        def loaded(self) -> Any:
            return [(ready, "module a"), (early, "module b")]

    probe.engines = Engines()
    overrides = Overrides(probe, {"threads": 2})
    overrides.apply()
    overrides.apply()
    early.settable = True
    overrides.apply()

    assert applied == [("ready", "module a", {"threads": 2}), ("early", "module b", {"threads": 2})]


def test_all_is_taken_back(keras: Any, probe: Probe) -> None:
    """In a process that goes on."""
    before = keras.Model.compile, keras.backend.set_floatx
    Overrides(probe, {"steps_per_execution": 4, "floatx": "float32"}).apply()

    probe.end()

    assert (keras.Model.compile, keras.backend.set_floatx) == before
