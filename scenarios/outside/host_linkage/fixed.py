import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.PRNGKey(5)
points = jax.random.normal(key, (60, 6))
w = jax.random.normal(key, (6, 3)) / 2


def order(d):
    nearest = jnp.abs(d[:30, None] - d[None]).sum(-1)
    return jnp.argsort(nearest.sum(0))


def loss_fn(w, x):
    z = x @ w
    rank = order(jax.lax.stop_gradient(z))
    return jnp.mean((z[rank][1:] - z[rank][:-1]) ** 2) + 0.1 * jnp.mean((z.std(0) - 1) ** 2)


@jax.jit
def update(w, x):
    value, g = jax.value_and_grad(loss_fn)(w, x)
    return w - 0.05 * g, value


for step in range(900):
    w, value = update(w, points)
    if step % 300 == 0:
        print(step, float(value))
