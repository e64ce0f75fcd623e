import time

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(9)
LARGEST = 64
clouds = [rng.standard_normal((int(n), 3)).astype("float32") for n in rng.integers(20, LARGEST, 90)]
key = jax.random.PRNGKey(1)
params = {"a": jax.random.normal(key, (3, 24)) / 2, "b": jax.random.normal(key, (24, 24)) / 5, "c": jnp.zeros(24)}


def energy(p, points, mask):
    h = jnp.tanh(points @ p["a"])
    near = jnp.exp(-jnp.sum((points[:, None] - points[None]) ** 2, -1)) * mask[:, None] * mask[None]
    for _ in range(3):
        h = jnp.tanh(near @ h @ p["b"]) + h
    return ((h @ p["c"]) * mask).sum() / mask.sum()


@jax.jit
def update(p, points, mask, goal):
    value, g = jax.value_and_grad(lambda q: (energy(q, points, mask) - goal) ** 2)(p)
    return jax.tree_util.tree_map(lambda w, d: w - 0.01 * d, p, g), value


for epoch in range(4):
    begin, total = time.time(), 0.0
    for cloud in clouds:
        points = np.zeros((LARGEST, 3), "float32")
        points[:len(cloud)] = cloud
        mask = (np.arange(LARGEST) < len(cloud)).astype("float32")
        params, value = update(params, points, mask, float(cloud.mean()))
        total += float(value)
    print(epoch, "%.4f" % (total / len(clouds)), "%.1f s" % (time.time() - begin))
