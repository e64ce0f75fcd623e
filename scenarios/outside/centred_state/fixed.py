import jax
import jax.numpy as jnp
from jax import lax

key = jax.random.PRNGKey(2)
STATES, T = 32, 200


def cell(p, h, x):
    z = jax.nn.sigmoid(x @ p["wz"] + h @ p["uz"])
    n = jnp.tanh(x @ p["wn"] + h @ p["un"])
    return (1 - z) * h + z * n


def smooth(h):
    return h - lax.stop_gradient(h.mean())


def loss_fn(p, xs, ys):
    def one(h, x):
        h = smooth(cell(p, h, x))
        return h, h @ p["wo"]

    _, out = lax.scan(one, jnp.zeros((16, STATES)), xs)
    return jnp.mean((out[..., 0] - ys) ** 2)


@jax.jit
def update(p, xs, ys):
    l, g = jax.value_and_grad(loss_fn)(p, xs, ys)
    return {k: p[k] - 0.05 * g[k] for k in p}, l


names = {"wz": (4, STATES), "uz": (STATES, STATES), "wn": (4, STATES), "un": (STATES, STATES), "wo": (STATES, 1)}
params = {n: 0.2 * jax.random.normal(k, s) for (n, s), k in zip(names.items(), jax.random.split(key, 5))}
xs = jax.random.normal(key, (T, 16, 4))
ys = jnp.cumsum(xs.mean(-1), 0) * 0.05
for i in range(160):
    params, l = update(params, xs, ys)
    if i % 40 == 0:
        print(i, float(l))
