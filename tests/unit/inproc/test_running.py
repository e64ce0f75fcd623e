"""Trainings that run already when the probe comes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc.hooks import keras_modern
from dlprof_probes.inproc.probe import Probe
from dlprof_probes.inproc.running import Running

from tests.stand_ins import keras_versions
from tests.unit.inproc.conftest import Recorded

ROWS = np.arange(60, dtype="float32").reshape(20, 3) / 60


@pytest.fixture
def keras(probe: Probe) -> Iterator[Any]:
    """A Keras that nobody has hooked yet."""
    with keras_versions.loaded("3") as module:
        yield module
        probe.end()


@pytest.fixture
def monitoring(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What Python has from 3.12 on, as far as it is asked here; it notes what it is told."""
    told: list[tuple[Any, ...]] = []
    tools: dict[int, str] = {}
    made = SimpleNamespace(
        told=told, tools=tools, callbacks={}, events=SimpleNamespace(PY_RETURN=4, PY_UNWIND=16),
        get_tool=tools.get, use_tool_id=tools.__setitem__, free_tool_id=tools.pop,
        set_events=lambda *args: told.append(args), set_local_events=lambda *args: told.append(args),
    )  # fmt: skip
    made.register_callback = lambda _tool, event, callback: made.callbacks.__setitem__(event, callback)
    monkeypatch.setattr(sys, "monitoring", made, raising=False)
    return made


def trained(keras: Any, probe: Probe, at: Any) -> Any:
    """Five batches of four rows in each of two epochs; `at(epoch, batch)` says whether the probe comes there."""
    joined: list[Running] = []

    class Coming(keras.callbacks.Callback):  # type: ignore[misc]
        epoch = 0

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self.epoch = epoch

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            if at(self.epoch, batch) and not joined:
                keras_modern.attach(probe, keras)
                joined.append(Running(probe))
                joined[0].join(sys._getframe())

    inputs = keras.Input(shape=(3,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    model.compile("sgd", "mse")
    model.fit(ROWS, ROWS.sum(axis=1, keepdims=True), epochs=2, batch_size=4, verbose=0, callbacks=[Coming()])
    return joined[0]


@pytest.mark.usefixtures("monitoring")
def test_steps_are_told_from_there_on_by_their_own_numbers(keras: Any, probe: Probe, out: Recorded) -> None:
    """It comes as batch 2 of the second epoch begins, so 3 and 4 are whole."""
    running = trained(keras, probe, lambda epoch, batch: (epoch, batch) == (1, 2))
    assert running.leave() == []

    assert [(row[2], row[3]) for row in out.stream().steps] == [(1, 3), (1, 4)]
    (fit,) = [span for span in out.spans() if span[0] == "fit"]
    assert fit[3] is not None


def test_the_loop_is_over_when_its_frame_returns(keras: Any, probe: Probe, out: Recorded, monitoring: Any) -> None:
    """Returns of other frames of the same code are not it."""
    running = trained(keras, probe, lambda epoch, _batch: epoch == 0)
    (frame, _, _) = running._open[0]
    assert list(monitoring.tools.values()) == ["dlprof"]
    running._over(sys._getframe())
    assert running._open
    running._over(frame)

    assert (running._open, monitoring.tools) == ([], {})
    assert monitoring.told[0][1].co_name == "fit"


def test_without_a_tool_to_watch_the_loop_is_open_to_the_end(
    keras: Any, probe: Probe, out: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is told."""
    monkeypatch.delattr(sys, "monitoring", raising=False)
    running = trained(keras, probe, lambda epoch, _batch: epoch == 0)

    assert len(running._open) == 1
    running.leave()
    assert "when a training that ran already ended is not known" in str(out.stream().notes)


@pytest.mark.usefixtures("monitoring")
def test_a_step_function_from_before_is_given_back(keras: Any, probe: Probe) -> None:
    """The model has its own again when the probe goes."""
    probe.goes_on = True
    running = trained(keras, probe, lambda epoch, batch: (epoch, batch) == (0, 1))
    model = running._open[0][0].f_locals["self"] if running._open else None
    assert model is not None
    assert getattr(model.train_function, "_dlprof", False)
    running.leave()
    probe.end()

    assert not getattr(model.train_function, "_dlprof", False)


@pytest.mark.usefixtures("monitoring")
def test_where_no_training_runs_nothing_is_joined(keras: Any, probe: Probe, out: Recorded) -> None:
    """Only hooks are in place then."""
    keras_modern.attach(probe, keras)
    running = Running(probe)
    running.join(sys._getframe())

    assert running.leave() == []
    assert out.spans() == []
