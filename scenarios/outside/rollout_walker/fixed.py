"""Policy gradients for many walkers at once; what they see and do is kept until the update."""

import jax
import jax.numpy as jnp
import numpy as np

WALKERS, SEEN, LENGTH, UPDATES = 64, 48, 192, 8


def initial(key):
    a, b = jax.random.split(key)
    return {"a": jax.random.normal(a, (SEEN, 64)) * 0.1, "b": jax.random.normal(b, (64, 4)) * 0.1}


def logits(params, seen):
    return jnp.tanh(seen @ params["a"]) @ params["b"]


@jax.jit
def act(params, seen, key):
    return jax.random.categorical(key, logits(params, seen))


@jax.jit
def learn(params, seen, acted, rewards):
    def loss(params):
        chosen = jax.nn.log_softmax(logits(params, seen))
        taken = jnp.take_along_axis(chosen, acted[..., None], axis=-1)[..., 0]
        return -(taken * (rewards - rewards.mean())).mean()

    grads = jax.grad(loss)(params)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)


class World:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.state = self.rng.normal(size=(WALKERS, SEEN)).astype("float32")

    def step(self, acted):
        reward = self.state[np.arange(WALKERS), acted]
        self.state = np.roll(self.state, 1, axis=1)
        self.state[:, 0] = self.rng.normal(size=WALKERS)
        return self.state, reward


def rollout(params, world, key):
    seen = np.zeros((LENGTH, WALKERS, SEEN), dtype="float32")
    acted = np.zeros((LENGTH, WALKERS), dtype="int32")
    rewards = np.zeros((LENGTH, WALKERS), dtype="float32")
    now = world.state
    for t in range(LENGTH):
        key, sub = jax.random.split(key)
        action = np.asarray(act(params, now, sub))
        seen[t] = now
        acted[t] = action
        now, rewards[t] = world.step(action)
    return seen, acted, rewards, key


def main():
    key = jax.random.PRNGKey(0)
    params = initial(key)
    world = World(0)
    for update in range(UPDATES):
        seen, acted, rewards, key = rollout(params, world, key)
        params = learn(params, seen, acted, rewards)
        print(update, float(rewards.mean()))


main()
