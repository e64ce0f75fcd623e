"""A deep regression network in plain JAX, with an Adam of its own."""

import jax
import jax.numpy as jnp
import numpy as np

WIDTH, DEPTH, STEPS = 64, 14, 500


def initial(key):
    layers = []
    for key in jax.random.split(key, DEPTH):
        layers.append({
            "w": jax.random.normal(key, (WIDTH, WIDTH)) * (1 / WIDTH) ** 0.5,
            "b": jnp.zeros(WIDTH),
            "scale": jnp.ones(WIDTH),
        })
    return layers


def predict(layers, x):
    for layer in layers:
        x = x + layer["scale"] * jax.nn.gelu(x @ layer["w"] + layer["b"]) * 0.1
    return x.sum(axis=1)


def loss_of(layers, x, y):
    return jnp.mean((predict(layers, x) - y) ** 2)


def adam(layers, grads, first, second, step, rate=1e-3, b1=0.9, b2=0.999):
    first = jax.tree_util.tree_map(lambda m, g: b1 * m + (1 - b1) * g, first, grads)
    second = jax.tree_util.tree_map(lambda v, g: b2 * v + (1 - b2) * g * g, second, grads)
    fair = jax.tree_util.tree_map(lambda m: m / (1 - b1**step), first)
    spread = jax.tree_util.tree_map(lambda v: v / (1 - b2**step), second)
    layers = jax.tree_util.tree_map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), layers, fair, spread)
    return layers, first, second


@jax.jit
def update(layers, first, second, step, x, y):
    loss, grads = jax.value_and_grad(loss_of)(layers, x, y)
    return (loss, *adam(layers, grads, first, second, step))


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4096, WIDTH)).astype("float32")
    y = np.sin(x[:, 0]).astype("float32")
    layers = initial(jax.random.PRNGKey(0))
    first = jax.tree_util.tree_map(jnp.zeros_like, layers)
    second = jax.tree_util.tree_map(jnp.zeros_like, layers)
    for step in range(1, STEPS + 1):
        chosen = rng.integers(0, len(x), 64)
        loss, layers, first, second = update(layers, first, second, jnp.float32(step), x[chosen], y[chosen])
        if step % 100 == 0:
            print(step, float(loss))


main()
