"""Multi-backend Keras, 2.2 and 2.3, under the probe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.hooks import keras_classic
from dlprof_probes.inproc.probe import Probe

from tests.contracts import keras_training
from tests.contracts.keras_contract import KerasContract
from tests.stand_ins import keras_versions
from tests.unit.inproc.conftest import Recorded


class TestKeras22(KerasContract):
    """Batches of training are told by two methods; evaluation has no callbacks."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("2.2") as keras:
            keras_training.run(keras, str(folder))


class TestKeras23(KerasContract):
    """Batches of all loops go through one method."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("2.3") as keras:
            keras_training.run(keras, str(folder))


def in_loop(probe: Probe, keras: Any, call: Any) -> None:
    """Call a list of callbacks of the program's own inside a loop of fit."""
    keras_classic.attach(probe, keras)
    callbacks = keras.callbacks.CallbackList([])
    loop = probe.loops.open(probe.recorder.begin("fit", "fit"), "fit")
    call(callbacks)
    probe.loops.close(loop)


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_logs_of_a_batch_may_be_a_keyword(probe: Probe, out: Recorded, version: str) -> None:
    """A program may call its own list so; nothing fails, and those that are not seen are not told."""
    with keras_versions.loaded(version) as keras:
        in_loop(probe, keras, lambda callbacks: callbacks.on_batch_end(1, logs={"loss": 0.5}))
        probe.end()

    assert out.notes() == []
    assert out.stream().metrics == []


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_logs_of_a_batch_are_its_metrics(probe: Probe, out: Recorded, version: str) -> None:
    """But for its number and size, and what is no number."""

    def call(callbacks: Any) -> None:
        logs = {"batch": 1, "size": 4, "loss": 0.5, "text": "x"}
        if version == "2.2":
            callbacks.on_batch_end(1, logs)
        else:
            callbacks._call_batch_hook("train", "end", 1, logs)
            callbacks._call_batch_hook("test", "end", 2, logs)

    with keras_versions.loaded(version) as keras:
        in_loop(probe, keras, call)
        probe.end()

    assert [(row[2], row[4], row[5]) for row in out.stream().metrics] == [(1, "loss", 0.5)]


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_generators_are_loops_too(probe: Probe, out: Recorded, version: str) -> None:
    """Of as many steps as batches, in which train_on_batch is no loop of its own."""
    with keras_versions.loaded(version) as keras:
        keras_classic.attach(probe, keras)
        inputs = keras.Input(shape=(3,))
        model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
        model.compile("sgd", "mse")
        batch = np.ones((4, 3), dtype="float32"), np.ones((4, 1), dtype="float32")
        model.fit_generator(iter([batch] * 2), steps_per_epoch=2)
        probe.end()

    kinds = [kind for kind, _ in out.names()]
    assert kinds.count("fit") == 1
    assert "on_batch" not in kinds
    assert [(row[3], row[4]) for row in out.stream().steps] == [(0, 1), (1, 1)]


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_where_the_batches_of_a_generator_lie_is_noted(probe: Probe, out: Recorded, version: str) -> None:
    """64 of them, in two places of one array."""
    data = np.ones((8, 3), dtype="float32")
    goal = np.ones((8, 1), dtype="float32")

    def batches() -> Iterator[Any]:
        while True:
            for n in (0, 4):
                yield data[n : n + 4], goal[n : n + 4]

    with keras_versions.loaded(version) as keras:
        keras_classic.attach(probe, keras)
        inputs = keras.Input(shape=(3,))
        model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
        model.compile("sgd", "mse")
        model.fit_generator(batches(), steps_per_epoch=64)
        probe.end()

    fit = next(span for span in out.stream().spans.values() if span.kind == "fit")
    assert fit.detail["passed"] == {"batches": 64, "views": 64, "distinct": 2}
    assert out.notes() == []
