import csv
import io
import time

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(23)
text = io.StringIO()
writer = csv.writer(text)
for _ in range(1500):
    v = rng.normal(size=40)
    writer.writerow([*v.round(4), round(float(np.tanh(v[:3].sum())), 4)])
text.seek(0)
rows = [[float(c) for c in row] for row in csv.reader(text)]


def net(p, x):
    return (jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"])[:, 0]


@jax.jit
def step(p, x, y):
    loss, g = jax.value_and_grad(lambda q: jnp.mean((net(q, x) - y) ** 2))(p)
    return jax.tree_util.tree_map(lambda a, b: a - 0.1 * b, p, g), loss


k1, k2 = jax.random.split(jax.random.PRNGKey(23))
params = {"w1": jax.random.normal(k1, (40, 32)) * 0.1, "b1": jnp.zeros(32), "w2": jax.random.normal(k2, (32, 1)) * 0.1}
order = np.arange(len(rows))
for epoch in range(40):
    start, losses = time.time(), []
    rng.shuffle(order)
    for i in range(0, len(rows), 50):
        batch = [rows[j] for j in order[i:i + 50]]
        x = jnp.array([r[:-1] for r in batch])
        y = jnp.array([r[-1] for r in batch])
        params, loss = step(params, x, y)
        losses.append(loss)
    if epoch % 10 == 0:
        print("epoch", epoch, "loss %.4f" % float(jnp.mean(jnp.stack(losses))), "%.2f s" % (time.time() - start))
