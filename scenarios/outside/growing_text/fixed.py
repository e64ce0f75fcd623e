import jax
import jax.numpy as jnp

VOCAB, DIM = 64, 32
keys = jax.random.split(jax.random.PRNGKey(13), 6)
P = {
    "emb": jax.random.normal(keys[0], (VOCAB, DIM)),
    "q": jax.random.normal(keys[1], (DIM, DIM)) * 0.2,
    "k": jax.random.normal(keys[2], (DIM, DIM)) * 0.2,
    "v": jax.random.normal(keys[3], (DIM, DIM)) * 0.2,
    "out": jax.random.normal(keys[4], (DIM, VOCAB)),
}


@jax.jit
def next_logits(p, tokens, length):
    x = p["emb"][tokens]
    last = x[length - 1]
    a = (last @ p["q"]) @ (x @ p["k"]).T / DIM ** 0.5
    a = jnp.where(jnp.arange(len(tokens)) < length, a, -jnp.inf)
    return (last + jax.nn.softmax(a) @ (x @ p["v"])) @ p["out"]


def generate(prompt, n, key):
    tokens = jnp.zeros(len(prompt) + n, jnp.int32).at[:len(prompt)].set(jnp.array(prompt))
    for i in range(len(prompt), len(prompt) + n):
        key, sub = jax.random.split(key)
        token = jax.random.categorical(sub, next_logits(P, tokens, i))
        tokens = tokens.at[i].set(token)
    return tokens


print(generate([1, 2, 3], 40, keys[5]))
