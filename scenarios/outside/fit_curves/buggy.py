import time

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(7)
curves = []
for k in range(20):
    t = np.linspace(0, 4, 80)
    a, b, c = rng.uniform(0.5, 2, 3)
    curves.append((t, a * np.exp(-b * t) + 0.1 * c + 0.01 * rng.standard_normal(80)))


def model(p, t):
    h = jnp.tanh(t[:, None] * p["w1"] + p["b1"])
    h = jnp.tanh(h @ p["w2"] + p["b2"])
    return (h @ p["w3"])[:, 0]


def init(key):
    k1, k2, k3 = jax.random.split(key, 3)
    return {"w1": jax.random.normal(k1, (1, 16)), "b1": jnp.zeros(16),
            "w2": jax.random.normal(k2, (16, 16)) / 4, "b2": jnp.zeros(16),
            "w3": jax.random.normal(k3, (16, 1)) / 4}


def fit(t, y, steps=200):
    params = init(jax.random.PRNGKey(0))
    loss = lambda p: jnp.mean((model(p, t) - y) ** 2)
    step = jax.jit(lambda p: jax.tree_util.tree_map(lambda w, g: w - 0.05 * g, p, jax.grad(loss)(p)))
    for _ in range(steps):
        params = step(params)
    return float(loss(params))


t0 = time.time()
errors = [fit(jnp.asarray(t), jnp.asarray(y)) for t, y in curves]
print("mean error %.5f, %.1f s" % (np.mean(errors), time.time() - t0))
