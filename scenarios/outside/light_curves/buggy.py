"""Fit light curves of stars with a small network in JAX."""

import jax
import jax.numpy as jnp
import numpy as np

STARS, POINTS, STEPS = 20000, 160, 250


def initial(key):
    a, b = jax.random.split(key)
    return {"a": jax.random.normal(a, (POINTS, 64)) * 0.05, "b": jax.random.normal(b, (64, 1)) * 0.1}


@jax.jit
def step(params, curves, periods, chosen):
    x, y = curves[chosen], periods[chosen]

    def loss(params):
        return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y[:, None]) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    return value, jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, params, grads)


def main():
    rng = np.random.default_rng(0)
    periods = rng.uniform(0.5, 2.0, STARS)
    curves = np.sin(np.linspace(0, 20, POINTS) / periods[:, None]) + 0.1 * rng.normal(size=(STARS, POINTS))
    params = initial(jax.random.PRNGKey(0))
    for number in range(STEPS):
        chosen = rng.integers(0, STARS, 128)
        value, params = step(params, curves, periods, chosen)
        if number % 50 == 0:
            print(number, float(value))
    print(float(value))


main()
