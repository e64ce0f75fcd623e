"""The time of a step on an engine whose steps return before the device is done: that of the epochs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.runner import phases, report, sql, trace, write

pytestmark = pytest.mark.integration

TRAINING = """
    import sys
    import keras
    import numpy as np

    layers, options = keras.layers, sys.argv[1:]
    rows, labels = np.random.default_rng(0).normal(size=(1024, 784)).astype("float32"), np.arange(1024) % 10
    model = keras.Sequential([keras.Input((784,)), layers.Dense(1024, "relu"), layers.Dense(1024, "relu")])
    model.add(layers.Dense(10, "softmax"))
    model.compile("adam", "sparse_categorical_crossentropy")

    class Reads(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.last = logs["loss"]

    given = {"callbacks": [Reads()]} if "callback" in options else {}
    if "validation" in options:
        given["validation_data"] = rows[:512], labels[:512]
    model.fit(rows, labels, batch_size=32, epochs=4, verbose=0, **given)
"""
EPOCHS = """
    WITH done AS (SELECT epoch, max(time_ns) AS at FROM metrics WHERE step IS NOT NULL GROUP BY epoch)
    SELECT e.epoch, e.steps, e.dur_ns, done.at - e.start_ns AS trained_ns FROM epochs e JOIN done USING (epoch)
    WHERE e.epoch > 0 AND NOT EXISTS (
        SELECT 1 FROM kernel_windows w WHERE w.start_ns < e.start_ns + e.dur_ns AND w.start_ns + w.dur_ns > e.start_ns)
"""
"""Epochs without compilation and tracing; in one with a validation, training ends when the last loss is known."""


def of_epochs(rows: list[dict[str, Any]], column: str = "dur_ns") -> float:
    """Wall time of epochs over their steps (ns)."""
    return float(sum(row[column] for row in rows) / sum(row["steps"] for row in rows))


@pytest.mark.parametrize("script", ["mlp", "cnn", "lstm"])
def test_a_step_on_jax_takes_what_the_epochs_say(tmp_path: Path, scenarios: Path, script: str) -> None:
    """Within 10 %, on the scenarios; and the rate follows."""
    sizes = ("--samples", "512", "--batch-size", "32", "--epochs", "4")
    done = trace(str(scenarios / f"{script}.py"), "--backend", "jax", "--", *sizes, cwd=tmp_path)
    assert done.code == 0, done.err

    steps, rows = report(tmp_path)["steps"], sql(tmp_path, EPOCHS)
    assert steps["how"] == "epochs"
    assert steps["median_ns"] == pytest.approx(of_epochs(rows), rel=0.1)
    samples = 512 / (sum(row["steps"] for row in rows) / len(rows))
    assert steps["samples_per_s"] == pytest.approx(samples / (of_epochs(rows) / 1e9), rel=0.1)


@pytest.mark.parametrize("option", ["plain", "callback", "validation"])
def test_callbacks_and_validation_are_no_part_of_a_step(tmp_path: Path, option: str) -> None:
    """Within 10 %, and the wait for the device is called so."""
    write(tmp_path, "train.py", TRAINING)
    done = trace("train.py", "--backend", "jax", "--", option, cwd=tmp_path)
    assert done.code == 0, done.err

    content, rows = report(tmp_path), sql(tmp_path, EPOCHS)
    column = "trained_ns" if option == "validation" else "dur_ns"
    assert content["steps"]["median_ns"] == pytest.approx(of_epochs(rows, column), rel=0.1)
    found = phases(content)
    assert found["fit.wait"] > found["fit.callbacks"]
    assert (content["steps"]["p95_ns"] is not None) == (option == "callback")


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_elsewhere_steps_are_measured_and_nothing_is_a_wait(tmp_path: Path, backend: str) -> None:
    """They are done when they return."""
    write(tmp_path, "train.py", TRAINING)
    done = trace("train.py", "--backend", backend, "--", "callback", cwd=tmp_path)
    assert done.code == 0, done.err

    content = report(tmp_path)
    assert content["steps"]["how"] == "measured"
    assert "fit.wait" not in phases(content)
    assert sql(tmp_path, "SELECT count(*) AS n FROM steps WHERE wait_ns IS NOT NULL") == [{"n": 0}]
