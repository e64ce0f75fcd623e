"""Keras 3 under the probe."""

from __future__ import annotations

import itertools
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.hooks import keras_modern
from dlprof_probes.inproc.probe import Probe

from dlprof.ingest.own.span_log import Span
from tests.contracts import keras_training
from tests.contracts.keras_contract import KerasContract
from tests.stand_ins import keras_versions
from tests.unit.inproc.conftest import Clock, Recorded


class TestKeras3(KerasContract):
    """The loop fetches the batches, as on PyTorch."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with keras_versions.loaded("3") as keras:
            keras_training.run(keras, str(folder))


class TestKeras3OnJax(KerasContract):
    """The step function fetches them."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """On the stand-in."""
        with pytest.MonkeyPatch.context() as patch, keras_versions.loaded("3") as keras:
            patch.setenv("KERAS_BACKEND", "jax")
            keras_training.run(keras, str(folder))


@pytest.fixture
def keras(probe: Probe, now: Clock) -> Iterator[Any]:
    """A Keras whose hooks are in place."""
    with keras_versions.loaded("3") as module:
        keras_modern.attach(probe, module)
        yield module
        probe.end()


def model(keras: Any) -> Any:
    """One layer."""
    inputs = keras.Input(shape=(3,))
    return keras.Model(inputs, keras.layers.Dense(1)(inputs))


ROWS, TARGETS = np.ones((10, 3), dtype="float32"), np.ones((10, 1), dtype="float32")


def loops(out: Recorded, kind: str) -> list[Span]:
    """The loops of a kind."""
    return [span for span in out.stream().spans.values() if span.kind == kind]


def test_several_steps_in_one_execution_are_one_record(keras: Any, out: Recorded) -> None:
    """5 batches, 2 at a time."""
    made = model(keras)
    made.compile("sgd", "mse", steps_per_execution=2)
    made.fit(ROWS, TARGETS, batch_size=2, verbose=0)

    assert [(row[3], row[4]) for row in out.stream().steps] == [(0, 2), (2, 2), (4, 2)]
    assert loops(out, "fit")[0].detail["training"]["steps_per_execution"] == 2


@pytest.mark.parametrize(("callbacks", "told"), [(0, []), (1, ["on_predict_begin", "on_predict_end"])])
def test_a_prediction_has_spans_of_callbacks_where_it_has_callbacks(
    keras: Any, out: Recorded, callbacks: int, told: list[str]
) -> None:
    """It may be called for each row, mostly without any."""
    made = model(keras)
    made.compile("sgd", "mse")
    made.predict(ROWS, callbacks=[keras.callbacks.Callback()] * callbacks, verbose=0)

    assert [span.name for span in loops(out, "callbacks")] == told
    assert len(out.stream().steps) == 1


def test_a_class_of_iterators_that_two_modules_know_is_hooked_once(
    probe: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module of a backend's `fit` imports it: one span, one look at its data, and one way around both, not two."""
    with keras_versions.loaded("3") as keras:
        made = sys.modules["keras.src.trainers.epoch_iterator"].EpochIterator
        monkeypatch.setattr(sys.modules[keras.Model.fit.__module__], "EpochIterator", made, raising=False)
        keras_modern.attach(probe, keras)

        hooks, hooked = 0, made.__init__
        while hasattr(hooked, "__wrapped__"):
            hooks, hooked = hooks + 1, hooked.__wrapped__
        probe.end()
    assert hooks == 3


def test_a_very_long_fit_puts_several_steps_into_one_record(keras: Any, out: Recorded) -> None:
    """None of another epoch."""
    out.merge = 4
    made = model(keras)
    made.compile("sgd", "mse")
    made.fit(ROWS, TARGETS, batch_size=2, epochs=2, verbose=0)

    assert [(row[2], row[3], row[4]) for row in out.stream().steps] == [(0, 0, 4), (0, 4, 1), (1, 0, 4), (1, 4, 1)]


def test_metrics_of_batches_are_those_that_callbacks_get(keras: Any, out: Recorded) -> None:
    """Also where Keras calls them on another thread."""
    made = model(keras)
    made.compile("sgd", "mse")
    made.fit(ROWS, TARGETS, batch_size=4, verbose=0)

    stream = out.stream()
    fit = loops(out, "fit")[0].number
    assert sorted(row[2] for row in stream.metrics if row[0] == fit and row[4] == "loss") == [-1, 0, 1, 2]


def test_facts_of_the_data_adapter(keras: Any, out: Recorded) -> None:
    """Batches, their size, and that of the last one."""
    made = model(keras)
    made.compile("sgd", "mse")
    made.fit(ROWS, TARGETS, batch_size=4, verbose=0)

    detail = loops(out, "fit")[0].detail
    assert {name: detail[name] for name in ("batch_size", "batches", "partial_batch_size", "adapter")} == {
        "batch_size": 4,
        "batches": 3,
        "partial_batch_size": 2,
        "adapter": "ArrayDataAdapter",
    }


def test_data_that_do_not_know_their_size_have_fewer_facts(keras: Any, out: Recorded) -> None:
    """A generator's; nothing fails."""
    made = model(keras)
    made.compile("sgd", "mse")
    made.fit(iter([(ROWS, TARGETS)] * 3), steps_per_epoch=3, verbose=0)

    assert loops(out, "fit")[0].detail["adapter"] == "GeneratorDataAdapter"
    assert "batch_size" not in loops(out, "fit")[0].detail
    assert out.notes() == []
    assert len(out.stream().steps) == 3


def test_a_wait_for_batches_is_input_and_no_part_of_the_step(keras: Any, out: Recorded, now: Clock) -> None:
    """The loop fetches them between two steps."""

    def batches() -> Iterator[Any]:
        while True:
            now.ns += 700
            yield ROWS, TARGETS

    def loss(y_true: Any, y_pred: Any) -> Any:
        now.ns += 50
        return ((y_true - y_pred) ** 2).mean()

    made = model(keras)
    made.compile("sgd", loss)
    made.fit(batches(), steps_per_epoch=2, verbose=0)

    assert [(row[6] - row[5], row[7]) for row in out.stream().steps] == [(50, 700), (50, 700)]


def test_training_that_stops_itself_has_the_steps_before(keras: Any, out: Recorded) -> None:
    """And its epoch has ended."""

    class Stopping(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_training = batch == 1

    made = model(keras)
    made.compile("sgd", "mse")
    made.fit(ROWS, TARGETS, batch_size=2, epochs=3, callbacks=[Stopping()], verbose=0)

    assert [(row[2], row[3]) for row in out.stream().steps] == [(0, 0), (0, 1)]
    assert [span.end is not None for span in loops(out, "epoch")] == [True]


def test_a_sequential_model_is_put_together_by_add(keras: Any, out: Recorded) -> None:
    """Each call a span; what it calls itself is part of it."""
    keras.Sequential([keras.Input(shape=(3,)), keras.layers.Dense(1, name="result")])

    assert out.names() == [("construct", "Dense.__init__"), ("construct", "Sequential.__init__")]


def test_loading_and_shaping_of_data_are_data(keras: Any, out: Recorded) -> None:
    """By the names that scripts call."""
    keras.utils.to_categorical([0, 1], 2)
    keras.utils.pad_sequences([[1], [1, 2]], 2)
    keras.datasets.mnist.load_data()

    assert out.names() == [("data", "to_categorical"), ("data", "pad_sequences"), ("data", "mnist.load_data")]


def test_functions_that_save_are_saving(keras: Any, out: Recorded, tmp_path: Path) -> None:
    """The method that they call is part of it."""
    keras.models.save_model(model(keras), str(tmp_path / "model"))

    assert [row for row in out.names() if row[0] == "save"] == [("save", "save_model")]


def test_a_keras_is_ready_when_it_is_loaded_to_its_end() -> None:
    """Not when half of it is there."""
    with keras_versions.loaded("3") as module:
        assert keras_modern.ready({"keras": module})
        assert keras_modern.ready_tf_keras({"tf_keras": module})
    assert not keras_modern.ready({"keras": ModuleType("keras")})
    assert not keras_modern.ready({})


def test_a_keras_that_does_not_tell_its_backend_is_on_tensorflow() -> None:
    """That of TensorFlow 2.4 to 2.15 has no other."""
    assert keras_modern._backend(ModuleType("keras")) == "tensorflow"


def reading(now: Clock, ns: int) -> Any:
    """Keras' way to numbers, on a device that takes so long to have them."""

    def pythonify_logs(logs: Any) -> Any:
        now.ns += ns if logs else 0
        return dict(logs or {})

    return pythonify_logs


def test_reading_logs_for_a_callback_is_a_wait_and_no_callback(
    probe: Probe, out: Recorded, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each step, for 400 us; the callback itself takes 1 us."""
    with keras_versions.loaded("3") as keras:
        utils = sys.modules["keras.src.utils.python_utils"]
        monkeypatch.setattr(utils, "pythonify_logs", reading(now, 400_000))
        keras_modern.attach(probe, keras)
        probe.waits.watch()

        class Mine(keras.callbacks.Callback):  # type: ignore[name-defined,misc]
            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                now.ns += 1000

        made = model(keras)
        made.compile("sgd", "mse")
        made.fit(ROWS, TARGETS, batch_size=5, verbose=0, callbacks=[Mine()])
        probe.end()

    assert [(row[8], row[11]) for row in out.stream().steps] == [(1000, 400_000)] * 2


@pytest.fixture
def adapter(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Keras' module for generators, hooked: it looks at two batches first."""
    module: Any = ModuleType(GENERATORS)

    def peek_and_restore(generator: Iterator[Any]) -> tuple[list[Any], Any]:
        first = list(itertools.islice(generator, 2))
        return first, lambda: itertools.chain(first, generator)

    module.peek_and_restore = peek_and_restore
    monkeypatch.setitem(sys.modules, GENERATORS, module)
    keras_modern._generators(probe)
    found: ModuleType = module
    return found


GENERATORS = "keras.src.trainers.data_adapters.generator_data_adapter"


def test_where_the_batches_of_a_generator_lie_is_noted(adapter: Any, probe: Probe, out: Recorded) -> None:
    """And all of them come through as they are."""
    data = np.ones((8, 3))
    given = [(data[n % 2 * 4 :][:4],) for n in range(70)]
    loop = probe.loops.open(probe.recorder.begin("fit", "fit"), "fit")

    first, restore = adapter.peek_and_restore(iter(given))
    taken = list(restore())

    probe.loops.close(loop)
    assert first == given[:2]
    assert [id(one) for one in taken] == [id(one) for one in given]
    assert loops(out, "fit")[0].detail["passed"] == {"batches": 64, "views": 64, "distinct": 2}


def test_a_generator_that_fails_shows_no_frame_of_ours(adapter: Any) -> None:
    """Its error comes out of it as without dlprof."""

    def failing() -> Iterator[Any]:
        yield from [(ROWS,)] * 2
        raise KeyError("third")

    _, restore = adapter.peek_and_restore(failing())
    with pytest.raises(KeyError, match="third") as caught:
        list(restore())

    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == ["test_a_generator_that_fails_shows_no_frame_of_ours", "failing"]
