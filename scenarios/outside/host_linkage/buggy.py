import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.PRNGKey(5)
points = jax.random.normal(key, (60, 6))
w = jax.random.normal(key, (6, 3)) / 2


def order(d):
    out = np.asarray(d)
    nearest = np.array([[sum(abs(a - b)) for b in out] for a in out[:30]])
    return np.argsort(nearest.sum(0)).astype(np.int32)


def loss_fn(w, x):
    z = x @ w
    rank = jax.pure_callback(order, jax.ShapeDtypeStruct((len(x),), jnp.int32), jax.lax.stop_gradient(z))
    return jnp.mean((z[rank][1:] - z[rank][:-1]) ** 2) + 0.1 * jnp.mean((z.std(0) - 1) ** 2)


@jax.jit
def update(w, x):
    value, g = jax.value_and_grad(loss_fn)(w, x)
    return w - 0.05 * g, value


for step in range(900):
    w, value = update(w, points)
    if step % 300 == 0:
        print(step, float(value))
