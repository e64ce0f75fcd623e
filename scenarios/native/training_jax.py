"""Layers, steps of training and inference with JAX, and the optimisers that the scenarios need."""

import jax
import numpy as np
from jax import numpy as jnp


def dense(name, rows, kernel, bias):
    """A dense layer; `name` shows in traces."""
    with jax.named_scope(name):
        return rows @ kernel + bias


def convolution(name, rows, kernel, bias, padding="VALID"):
    """A convolution of images with the colours last."""
    with jax.named_scope(name):
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(rows, kernel, (1, 1), padding, dimension_numbers=layout) + bias


def pool(name, rows, start, operation):
    """Windows of 2 x 2, reduced by `operation`."""
    with jax.named_scope(name):
        return jax.lax.reduce_window(rows, start, operation, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def dropout(name, rows, rate, key):
    """Dropout; `key` None: nothing is dropped."""
    if key is None or not rate:
        return rows
    with jax.named_scope(name):
        return jnp.where(jax.random.bernoulli(key, 1.0 - rate, rows.shape), rows / (1.0 - rate), 0.0)


def rmsprop(weights, learning_rate=0.001, rho=0.9, epsilon=1e-7):
    """State of RMSprop, and its update."""

    def update(state, weights, gradients):
        state = [rho * v + (1.0 - rho) * g * g for v, g in zip(state, gradients)]
        steps = (learning_rate * g / jnp.sqrt(v + epsilon) for v, g in zip(state, gradients))
        return state, [w - step for w, step in zip(weights, steps)]

    return [jnp.zeros_like(w) for w in weights], update


def adam(weights, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    """State of Adam, and its update."""

    def update(state, weights, gradients):
        time, first, second = state
        time = time + 1
        first = [beta_1 * m + (1 - beta_1) * g for m, g in zip(first, gradients)]
        second = [beta_2 * v + (1 - beta_2) * g * g for v, g in zip(second, gradients)]
        rate = learning_rate * jnp.sqrt(1 - beta_2**time) / (1 - beta_1**time)
        moved = [w - rate * m / (jnp.sqrt(v) + epsilon) for w, m, v in zip(weights, first, second)]
        return (time, first, second), moved

    zeros = [jnp.zeros_like(w) for w in weights]
    return (jnp.zeros(()), zeros, zeros), update


def sgd(_weights, learning_rate):
    """Gradient descent, which has no state."""

    def update(state, weights, gradients):
        return state, [w - learning_rate * g for w, g in zip(weights, gradients)]

    return (), update


def steps(model, weights, optimizer, seed):
    """The functions that `common.run` takes.

    Args:
        model: Function from weights, rows and a random key (None: inference) to logits.
        weights: Arrays.
        optimizer: State and update.
        seed: Of dropout.
    """
    state, update = optimizer
    now = {"weights": weights, "state": state, "key": jax.random.key(seed)}

    def loss_of(weights, rows, labels, key):
        with jax.named_scope("loss"):
            return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(model(weights, rows, key)), axis=1))

    @jax.jit
    def trained(weights, state, key, rows, labels):
        key, dropped = jax.random.split(key)
        loss, gradients = jax.value_and_grad(loss_of)(weights, rows, labels, dropped)
        with jax.named_scope("optimizer"):
            state, weights = update(state, weights, gradients)
        return weights, state, key, loss

    @jax.jit
    def tested(weights, rows, labels):
        right = jnp.argmax(model(weights, rows, None), 1) == jnp.argmax(labels, 1)
        return loss_of(weights, rows, labels, None), jnp.sum(right)

    @jax.jit
    def predicted(weights, rows):
        return jax.nn.softmax(model(weights, rows, None))

    def step(rows, labels):
        now["weights"], now["state"], now["key"], loss = trained(now["weights"], now["state"], now["key"], rows, labels)
        return loss

    def test(rows, labels):
        return tested(now["weights"], rows, labels)

    def predict(rows):
        return np.asarray(predicted(now["weights"], rows))

    return step, test, predict
