"""By hand: 3 epochs of 10 compiled gradients; 2 epochs of 6 that are not compiled; then gradients alone."""

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
X, y = rng.normal(size=(80, 20)).astype("float32"), rng.normal(size=(80, 1)).astype("float32")
params = {
    "w1": jnp.array(rng.normal(size=(20, 16)) * 0.1),
    "b1": jnp.zeros(16),
    "w2": jnp.array(rng.normal(size=(16, 1)) * 0.1),
}


def loss_fn(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] - y) ** 2)


grad = jax.jit(jax.value_and_grad(loss_fn))
for epoch in range(3):
    for i in range(10):
        loss, g = grad(params, X[i * 8 : i * 8 + 8], y[i * 8 : i * 8 + 8])
        params = jax.tree_util.tree_map(lambda p, d: p - 0.1 * d, params, g)
    print(epoch, float(loss))

for _epoch in range(2):
    for i in range(6):
        g = jax.grad(loss_fn)(params, X[i * 8 : i * 8 + 8], y[i * 8 : i * 8 + 8])
        params = {name: params[name] - 0.1 * g[name] for name in params}
print(float(loss_fn(params, X, y)))

for i in range(5):
    g = grad(params, X[i * 8 : i * 8 + 8], y[i * 8 : i * 8 + 8])
print(float(g[0]))
