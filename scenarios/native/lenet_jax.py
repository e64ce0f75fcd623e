"""LeNet of `scenarios/lenet.py` in JAX, without Keras."""

import jax
from jax import numpy as jnp

import common
import training_jax as training


def model(weights, rows, _key):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = weights
    maps = jnp.tanh(training.convolution("conv_1", rows, k1, b1, "SAME"))
    maps = training.pool("pool_1", maps, 0.0, jax.lax.add) / 4.0
    maps = jnp.tanh(training.convolution("conv_2", maps, k2, b2))
    maps = training.pool("pool_2", maps, 0.0, jax.lax.add) / 4.0
    hidden = jnp.tanh(training.dense("dense_1", maps.reshape(len(rows), -1), d1, b3))
    hidden = jnp.tanh(training.dense("dense_2", hidden, d2, b4))
    return training.dense("dense_3", hidden, d3, b5)


def main():
    workload = common.lenet()
    with common.mark.phase("construct"):
        weights = [jnp.asarray(weight) for weight in workload.weights]
    common.mark.model(["conv_1", "pool_1", "conv_2", "pool_2", "dense_1", "dense_2", "dense_3"], "optimizer")
    optimizer = training.sgd(weights, 0.05)
    common.run(workload, *training.steps(model, weights, optimizer, workload.args.seed))


if __name__ == "__main__":
    main()
