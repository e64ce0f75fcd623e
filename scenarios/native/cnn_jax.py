"""The MNIST CNN of `scenarios/cnn.py` in JAX, without Keras."""

import jax
from jax import numpy as jnp

import common
import training_jax as training


def build(args):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""

    def model(weights, rows, key):
        k1, b1, k2, b2, d1, b3, d2, b4 = weights
        keys = (None, None) if key is None else jax.random.split(key)
        maps = jax.nn.relu(training.convolution("conv_1", rows, k1, b1))
        maps = jax.nn.relu(training.convolution("conv_2", maps, k2, b2))
        maps = training.pool("pool_1", maps, -jnp.inf, jax.lax.max)
        maps = training.dropout("dropout_1", maps, common.rate(args, 0.25), keys[0])
        hidden = jax.nn.relu(training.dense("dense_1", maps.reshape(len(rows), -1), d1, b3))
        hidden = training.dropout("dropout_2", hidden, common.rate(args, 0.5), keys[1])
        return training.dense("dense_2", hidden, d2, b4)

    return model


def main():
    workload = common.cnn()
    with common.mark.phase("construct"):
        weights = [jnp.asarray(weight) for weight in workload.weights]
        optimizer = training.rmsprop(weights)
    common.mark.model(["conv_1", "conv_2", "pool_1", "dropout_1", "dense_1", "dropout_2", "dense_2"], "optimizer")
    common.run(workload, *training.steps(build(workload.args), weights, optimizer, workload.args.seed))


if __name__ == "__main__":
    main()
