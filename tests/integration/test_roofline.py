"""The work of layers by shapes is the same on every backend, and stands beside the time of their kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPT = """
    import numpy as np
    import keras
    from keras import layers as L

    model = keras.models.Sequential([
        L.Conv2D(8, (3, 3), activation="relu", input_shape=(12, 12, 3), name="conv"),
        L.Flatten(name="flat"),
        L.Dense(64, activation="relu", name="wide"),
        L.Dense(10, name="last"),
    ])
    model.compile("sgd", "mse")
    model.fit(np.ones((640, 12, 12, 3), "float32"), np.zeros((640, 10), "float32"), batch_size=32, epochs=3, verbose=0)
"""
CONV, WIDE, LAST = 2 * 32 * 10 * 10 * 8 * 27, 2 * 32 * 800 * 64, 2 * 32 * 64 * 10
"""Of a batch of 32: 27 products for each of 10 x 10 x 8 values; 800 by 64; 64 by 10."""


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch", "mxnet"])
def test_the_work_of_layers_is_that_of_the_formula_and_their_kernels_have_times(backend: str, tmp_path: Path) -> None:
    """Gradients of weights and inputs take as much again each; the first layer's input is data."""
    runner.write(tmp_path, "script.py", SCRIPT)

    done = runner.trace("script.py", "--backend", backend, cwd=tmp_path)

    assert done.code == 0, done.err
    told = runner.asked("kernels", "run", "--roofline", cwd=tmp_path)
    work = {(row["layer"], row["direction"]): row["flops"] for row in told["layers"] if row["layer"] != "flat"}

    assert work == {
        ("conv", "forward"): CONV, ("conv", "backward"): CONV,
        ("wide", "forward"): WIDE, ("wide", "backward"): 2 * WIDE,
        ("last", "forward"): LAST, ("last", "backward"): 2 * LAST,
    }  # fmt: skip
    assert {row["layer"] for row in told["layers"] if row["ns"]} >= {"conv", "wide", "last"}
    # Steps under the tracer are slower than plain ones, and on a busy machine much slower now and then.
    assert all(row["ns"] <= told["step_ns"] * 5 for row in told["layers"] if row["ns"])
