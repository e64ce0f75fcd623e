"""A compiled step that is given its own parameters: 3 epochs of 6 steps; the gradient alone is no step: 1 of 5."""

import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.PRNGKey(0), 3)
rows, wanted = jax.random.normal(keys[0], (96, 8)), jax.random.normal(keys[1], (96, 1))
params = {"w": jax.random.normal(keys[2], (8, 1)), "b": jnp.zeros(1)}


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), loss


@jax.jit
def evaluate(params, x, y):
    return loss_fn(params, x, y)


for epoch in range(3):
    for start in range(0, 96, 16):
        params, loss = train_step(params, rows[start : start + 16], wanted[start : start + 16])
    print(epoch, float(loss), float(evaluate(params, rows, wanted)))

gradient = jax.jit(jax.grad(loss_fn))


@jax.jit
def update(params, grads):
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


for _ in range(5):
    params = update(params, gradient(params, rows, wanted))
print(float(evaluate(params, rows, wanted)))
