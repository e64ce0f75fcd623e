import time

import jax
import jax.numpy as jnp
import numpy as np

N = 30_000
DIM = 24
BATCH = 512
STEPS = 750
LR = 5e-2


def make_data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, DIM)).astype(np.float32)
    w = rng.normal(size=DIM) / np.sqrt(DIM)
    y = (rng.uniform(size=N) < 1 / (1 + np.exp(-x @ w))).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(y), w


def subsample(key, size, subsample_size):
    return jax.random.permutation(key, size)[:subsample_size]


def elbo(params, key, x, y):
    loc, log_scale = params["loc"], params["log_scale"]
    eps = jax.random.normal(key, (8, DIM))
    w = loc + jnp.exp(log_scale) * eps
    logits = w @ x.T
    log_lik = jnp.mean(jnp.sum(y * logits - jax.nn.softplus(logits), axis=1)) * (N / BATCH)
    kl = 0.5 * jnp.sum(jnp.exp(2 * log_scale) + loc ** 2 - 1 - 2 * log_scale)
    return log_lik - kl


def init_state():
    params = {"loc": jnp.zeros(DIM), "log_scale": jnp.full(DIM, -2.0)}
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    return params, zeros, zeros, 0


def adam(grads, state):
    params, m, v, t = state
    t = t + 1
    m = jax.tree_util.tree_map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = jax.tree_util.tree_map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
    scale = LR * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    params = jax.tree_util.tree_map(
        lambda p, a, b: p - scale * a / (jnp.sqrt(b) + 1e-8), params, m, v)
    return params, m, v, t


@jax.jit
def svi_update(state, key, x, y):
    key_sub, key_eps = jax.random.split(key)
    idx = subsample(key_sub, N, BATCH)
    loss, grads = jax.value_and_grad(
        lambda p: -elbo(p, key_eps, x[idx], y[idx]) / N)(state[0])
    return adam(grads, state), loss


def main():
    x, y, w_true = make_data()
    state = init_state()
    key = jax.random.PRNGKey(1)
    losses = []
    start = time.time()
    for step in range(1, STEPS + 1):
        key, sub = jax.random.split(key)
        state, loss = svi_update(state, sub, x, y)
        losses.append(loss)
        if step % 300 == 0:
            recent = np.mean([float(l) for l in losses[-300:]])
            err = np.abs(np.asarray(state[0]["loc"]) - w_true).mean()
            print(f"step {step}: loss {recent:.4f} |w - w_true| {err:.4f} "
                  f"({time.time() - start:.1f}s)")


if __name__ == "__main__":
    main()
