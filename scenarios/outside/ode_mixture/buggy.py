import time

import jax
import jax.numpy as jnp
import numpy as np

DIM = 16
HIDDEN = 64
BATCH = 256
STEPS = 260
SOLVER_STEPS = 20


def make_data(n, seed=0):
    """Short trajectories; a few of them are stiff and need the fine solver."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, DIM)).astype(np.float32)
    stiff = np.zeros(n, bool)
    stiff[rng.permutation(n)[:n // 16]] = True
    rate = np.where(stiff, 4.0, 0.5).astype(np.float32)
    y = np.tanh(x) * np.exp(-rate)[:, None] + 0.1 * np.roll(x, 1, axis=1)
    return x, rate, y.astype(np.float32)


def init_params(key):
    keys = jax.random.split(key, 3)
    sizes = [DIM + 1, HIDDEN, HIDDEN, DIM]
    return [(jax.random.normal(k, (i, o)) / jnp.sqrt(i), jnp.zeros(o))
            for k, i, o in zip(keys, sizes[:-1], sizes[1:])]


def vector_field(params, x, rate):
    h = jnp.concatenate([x, rate[None]])
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return h @ w + b - rate * x


def coarse_solve(params, x, rate):
    return x + vector_field(params, x, rate)


def fine_solve(params, x, rate):
    dt = 1.0 / SOLVER_STEPS

    def body(x, _):
        k1 = vector_field(params, x, rate)
        k2 = vector_field(params, x + 0.5 * dt * k1, rate)
        return x + dt * k2, None

    return jax.lax.scan(body, x, None, length=SOLVER_STEPS)[0]


def predict(params, x, rate):
    return jax.lax.cond(rate > 1.0, fine_solve, coarse_solve, params, x, rate)


def loss_fn(params, x, rate, y):
    pred = jax.vmap(predict, in_axes=(None, 0, 0))(params, x, rate)
    return jnp.mean((pred - y) ** 2)


@jax.jit
def update(params, velocity, x, rate, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, rate, y)
    velocity = jax.tree_util.tree_map(lambda v, g: 0.9 * v + g, velocity, grads)
    params = jax.tree_util.tree_map(lambda p, v: p - 0.01 * v, params, velocity)
    return params, velocity, loss


def batches(x, rate, y, seed=1):
    rng = np.random.default_rng(seed)
    easy, hard = np.where(rate <= 1.0)[0], np.where(rate > 1.0)[0]
    n_hard = BATCH // 16
    while True:
        idx = np.concatenate([rng.choice(hard, n_hard), rng.choice(easy, BATCH - n_hard)])
        yield x[idx], rate[idx], y[idx]


def main():
    data = make_data(8192)
    params = init_params(jax.random.PRNGKey(0))
    velocity = jax.tree_util.tree_map(jnp.zeros_like, params)
    start, losses = time.time(), []
    for step, (x, rate, y) in zip(range(1, STEPS + 1), batches(*data)):
        params, velocity, loss = update(params, velocity, x, rate, y)
        losses.append(float(loss))
        if step % (STEPS // 5) == 0:
            print(f"step {step} loss {np.mean(losses[-50:]):.5f} "
                  f"elapsed {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
