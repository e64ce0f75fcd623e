"""The MNIST CNN of `scenarios/cnn.py` in TensorFlow 1, without Keras."""

import tensorflow as tf

import common
import training_tensorflow1 as training


def build(args, rows, is_training, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    k1, b1, k2, b2, d1, b3, d2, b4 = weights
    maps = tf.nn.relu(training.convolution("conv_1", rows, k1, b1))
    maps = tf.nn.relu(training.convolution("conv_2", maps, k2, b2))
    maps = tf.nn.max_pool2d(maps, 2, 2, "VALID", name="pool_1")
    maps = training.dropout("dropout_1", maps, common.rate(args, 0.25), is_training)
    hidden = tf.nn.relu(training.dense("dense_1", tf.reshape(maps, (-1, 9216)), d1, b3))
    hidden = training.dropout("dropout_2", hidden, common.rate(args, 0.5), is_training)
    return training.dense("dense_2", hidden, d2, b4)


def main():
    workload = common.cnn()
    with common.mark.phase("construct"):
        rows = tf.compat.v1.placeholder(tf.float32, (None, 28, 28, 1))
        is_training = tf.compat.v1.placeholder(tf.bool)
        logits = build(workload.args, rows, is_training, training.variables(workload.weights))
        optimizer = tf.compat.v1.train.RMSPropOptimizer(0.001, decay=0.9, epsilon=1e-7)
        functions = training.steps(logits, rows, is_training, optimizer)
    common.mark.model(["conv_1", "conv_2", "pool_1", "dropout_1", "dense_1", "dropout_2", "dense_2"], "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
