"""LeNet of `scenarios/lenet.py` in TensorFlow 1, without Keras."""

import tensorflow as tf

import common
import training_tensorflow1 as training


def build(rows, weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = weights
    maps = tf.tanh(training.convolution("conv_1", rows, k1, b1, "SAME"))
    maps = tf.nn.avg_pool2d(maps, 2, 2, "VALID", name="pool_1")
    maps = tf.tanh(training.convolution("conv_2", maps, k2, b2))
    maps = tf.nn.avg_pool2d(maps, 2, 2, "VALID", name="pool_2")
    hidden = tf.tanh(training.dense("dense_1", tf.reshape(maps, (-1, 400)), d1, b3))
    hidden = tf.tanh(training.dense("dense_2", hidden, d2, b4))
    return training.dense("dense_3", hidden, d3, b5)


def main():
    workload = common.lenet()
    with common.mark.phase("construct"):
        rows = tf.compat.v1.placeholder(tf.float32, (None, 28, 28, 1))
        logits = build(rows, training.variables(workload.weights))
        optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)
        functions = training.steps(logits, rows, tf.compat.v1.placeholder(tf.bool), optimizer)
    common.mark.model(["conv_1", "pool_1", "conv_2", "pool_2", "dense_1", "dense_2", "dense_3"], "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
