"""Where scripts ask for values of the device, on the real engines: counts by line are those that the script has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

TORCH = """
import numpy as np
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
total = 0.0
for epoch in range(2):
    for turn in range(10):
        loss = model(torch.ones(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()  # item
        text = f"{loss:.3f}"  # format
        if loss > 1e9:  # bool
            break
        if turn % 5 == 0:
            values = [float(loss.detach()), loss.detach().cpu().tolist()]  # three
            array = np.asarray(loss.detach())  # asarray
            number = loss.detach().numpy()  # numpy
print(hasattr(loss, "item"), torch.Tensor.item.__name__)
"""
JAX = """
import jax
import jax.numpy as jnp

@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

w, x = jnp.ones((4,)), jnp.ones((8, 4))
for turn in range(10):
    w = step(w, x)
    w.block_until_ready()  # wait
    first = float(w[0])  # float
    if turn % 5 == 0:
        value = w[0].item()  # item
        every = w.tolist()  # tolist
jax.block_until_ready((w, x))  # all
host = jax.device_get(w)  # get
"""
TENSORFLOW = """
import tensorflow as tf

w, x = tf.Variable(tf.ones((4, 1))), tf.ones((8, 4))
optimizer = tf.keras.optimizers.SGD(0.1)
for turn in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    value = loss.numpy()  # numpy
    number = float(loss)  # float
    if loss > 1e9:  # bool
        break
    if turn % 5 == 0:
        weights = w.numpy()  # variable
"""
GLUON = """
import mxnet as mx
from mxnet import autograd, gluon

net = gluon.nn.Dense(1)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd")
x = mx.nd.ones((8, 4))
for turn in range(10):
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    trainer.step(8)
    value = loss.asscalar()  # asscalar
    if turn % 5 == 0:
        array = loss.asnumpy()  # asnumpy
        loss.wait_to_read()  # wait
mx.nd.waitall()  # all
"""
CASES = {
    "torch": (
        "native-torch",
        TORCH,
        {
            ("item", "item()", 20), ("format", "format()", 20), ("bool", "bool()", 20), ("three", "float()", 4),
            ("three", "cpu()", 4), ("three", "tolist()", 4), ("asarray", "np.asarray()", 4), ("numpy", "numpy()", 4),
        },
    ),
    "jax": (
        "native-jax",
        JAX,
        {
            ("wait", "block_until_ready()", 10), ("float", "float()", 10), ("item", "item()", 2),
            ("tolist", "tolist()", 2), ("all", "jax.block_until_ready()", 1), ("get", "jax.device_get()", 1),
        },
    ),
    "tensorflow": (
        "native-tensorflow",
        TENSORFLOW,
        {("numpy", "numpy()", 10), ("float", "float()", 10), ("bool", "bool()", 10), ("variable", "numpy()", 2)},
    ),
    "gluon": (
        "native-gluon",
        GLUON,
        {
            ("asscalar", "asscalar()", 10), ("asnumpy", "asnumpy()", 2), ("wait", "wait_to_read()", 2),
            ("all", "mx.nd.waitall()", 1),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_values_that_a_loop_asks_for_are_counted_by_line(case: str, tmp_path: Path) -> None:
    """What the engine's optimiser asks for by itself is not among them."""
    backend, text, counts = CASES[case]
    (tmp_path / "train.py").write_text(text)
    remarks = {number: line.partition("  # ")[2] for number, line in enumerate(text.splitlines(), 1)}

    done = runner.trace("train.py", "--backend", backend, cwd=tmp_path)

    assert done.code == 0, done.err
    told = runner.report(tmp_path)
    assert {(remarks[one["line"]], one["what"], one["calls"]) for one in told["syncs"]} == counts
    assert told["syncs_unknown"] is None
    assert all(one["ns"] > 0 and one["file"] == "train.py" for one in told["syncs"])


def test_warnings_of_an_engine_name_the_line_that_they_named(tmp_path: Path) -> None:
    """PyTorch warns by the innermost frame: standard error is the same as without dlprof."""
    script = """
    import torch
    value = float(torch.ones((), requires_grad=True))

    def traced(x):
        if x.sum() > 0:
            x = x * x.sum().item()
        return x + x.tolist()[0] + x.numpy()[0]

    torch.jit.trace(traced, torch.ones(2))
    """
    runner.write(tmp_path, "warns.py", script)
    done = runner.trace("warns.py", "--backend", "native-torch", cwd=tmp_path)

    assert done.code == 0, done.err
    warned = [line.split("Warning:")[0] for line in done.err.splitlines() if "Warning:" in line]
    path = tmp_path / "warns.py"
    assert warned == [f"{path}:{line}: {name}" for line, name in (
        (3, "User"), (6, "Tracer"), (7, "Tracer"), (8, "Tracer"), (8, "Tracer")
    )]  # fmt: skip
