"""Operations by shapes beside the engines' own counters."""

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
        L.Input((12, 12, 3)),
        L.Conv2D(8, (3, 3), activation="relu", name="conv"),
        L.Conv2D(16, (3, 3), strides=2, padding="same", name="strided"),
        L.Flatten(name="flat"),
        L.Dense(64, activation="relu", name="wide"),
        L.Dense(10, name="last"),
    ])
    model.compile("sgd", "mse")
    x = np.ones((32, 12, 12, 3), "float32")
    model.fit(np.concatenate([x] * 10), np.zeros((320, 10), "float32"), batch_size=32, epochs=2, verbose=0)
    if keras.backend.backend() == "torch":
        from torch.utils.flop_counter import FlopCounterMode

        with FlopCounterMode(display=False) as counter:
            model(keras.ops.convert_to_tensor(x)).sum().backward()
        print(counter.get_total_flops())
    else:
        import jax

        kept = [one.value for one in model.non_trainable_variables]
        loss = lambda weights: model.stateless_call(weights, kept, x)[0].sum()
        weights = [one.value for one in model.trainable_variables]
        print(jax.jit(jax.grad(loss)).lower(weights).cost_analysis()["flops"])
"""


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_operations_of_a_step_are_those_that_the_engine_counts(backend: str, tmp_path: Path) -> None:
    """Forward and backward, within 5 %: `torch.utils.flop_counter`, and XLA's cost analysis."""
    runner.write(tmp_path, "script.py", SCRIPT)

    done = runner.trace("script.py", "--backend", backend, cwd=tmp_path)

    assert done.code == 0, done.err
    told = runner.asked("kernels", "run", "--roofline", cwd=tmp_path)
    counted = float(done.out.split()[-1])
    assert told["step_flops"] == pytest.approx(counted, rel=0.05)
