"""The MNIST MLP of `scenarios/mlp.py` in JAX, without Keras."""

import jax
from jax import numpy as jnp

import common
import training_jax as training


def build(args):
    """784-512-512-10 with dropout: a function from weights, rows and a random key to logits."""
    rate = common.rate(args, 0.2)

    def model(weights, rows, key):
        k1, b1, k2, b2, k3, b3 = weights
        keys = (None, None) if key is None else jax.random.split(key)
        hidden = jax.nn.relu(training.dense("dense_1", rows, k1, b1))
        hidden = training.dropout("dropout_1", hidden, rate, keys[0])
        hidden = jax.nn.relu(training.dense("dense_2", hidden, k2, b2))
        hidden = training.dropout("dropout_2", hidden, rate, keys[1])
        return training.dense("dense_3", hidden, k3, b3)

    return model


def main():
    workload = common.mlp()
    with common.mark.phase("construct"):
        weights = [jnp.asarray(weight) for weight in workload.weights]
        optimizer = training.rmsprop(weights)
    common.mark.model(["dense_1", "dropout_1", "dense_2", "dropout_2", "dense_3"], "optimizer")
    common.run(workload, *training.steps(build(workload.args), weights, optimizer, workload.args.seed))


if __name__ == "__main__":
    main()
