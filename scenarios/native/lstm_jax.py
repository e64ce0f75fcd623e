"""The LSTM on film reviews of `scenarios/lstm.py` in JAX, without Keras."""

import jax
from jax import numpy as jnp

import common
import training_jax as training


def lstm(rows, kernel, recurrent, bias):
    """The last output of an LSTM over rows of shape (batch, time, inputs)."""
    units = recurrent.shape[0]

    def cell(carry, inputs):
        hidden, memory = carry
        gates = inputs + hidden @ recurrent
        ingate, forget, new, out = (gates[:, i * units : (i + 1) * units] for i in range(4))
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(ingate) * jnp.tanh(new)
        return (jax.nn.sigmoid(out) * jnp.tanh(memory), memory), None

    with jax.named_scope("lstm_1"):
        inputs = jnp.swapaxes(rows @ kernel + bias, 0, 1)
        zeros = jnp.zeros((rows.shape[0], units), rows.dtype)
        (hidden, _), _ = jax.lax.scan(cell, (zeros, zeros), inputs)
    return hidden


def model(weights, rows, _key):
    """Embedding, LSTM, Dense 2 on its last output."""
    embedding, kernel, recurrent, bias, dense, dense_bias = weights
    with jax.named_scope("embedding_1"):
        found = embedding[rows]
    return training.dense("dense_1", lstm(found, kernel, recurrent, bias), dense, dense_bias)


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        weights = [jnp.asarray(weight) for weight in workload.weights]
        optimizer = training.adam(weights)
    common.mark.model(["embedding_1", "lstm_1", "dense_1"], "optimizer")
    common.run(workload, *training.steps(model, weights, optimizer, workload.args.seed))


if __name__ == "__main__":
    main()
