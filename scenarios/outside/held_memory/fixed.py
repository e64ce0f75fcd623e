"""Logistic regression in JAX; the memory in use is written down beside the loss."""

import os

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 500


def resident():
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024**2


@jax.jit
def step(weights, x, y):
    def loss(weights):
        hidden = jnp.tanh(x @ weights["in"])
        out = hidden @ weights["out"]
        return jnp.mean(jnp.logaddexp(0.0, -(2 * y - 1) * out))

    value, grads = jax.value_and_grad(loss)(weights)
    return value, jax.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, grads)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6000, 200)).astype("float32")
    y = (x[:, :10].sum(axis=1) > 0).astype("float32")
    weights = {
        "in": jnp.asarray(rng.normal(size=(200, 256)).astype("float32") * 0.05),
        "out": jnp.asarray(rng.normal(size=256).astype("float32") * 0.05),
    }
    history = []
    for number in range(STEPS):
        chosen = rng.integers(0, len(x), 512)
        value, weights = step(weights, x[chosen], y[chosen])
        history.append((float(value), resident()))
        if number % 100 == 0:
            print(number, *history[-1])


main()
