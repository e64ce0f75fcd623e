"""The MNIST MLP of `scenarios/mlp.py` in TensorFlow 1, without Keras."""

import tensorflow as tf

import common
import training_tensorflow1 as training


def build(args, rows, is_training, weights):
    """784-512-512-10 with dropout."""
    rate = common.rate(args, 0.2)
    k1, b1, k2, b2, k3, b3 = weights
    hidden = tf.nn.relu(training.dense("dense_1", rows, k1, b1))
    hidden = training.dropout("dropout_1", hidden, rate, is_training)
    hidden = tf.nn.relu(training.dense("dense_2", hidden, k2, b2))
    hidden = training.dropout("dropout_2", hidden, rate, is_training)
    return training.dense("dense_3", hidden, k3, b3)


def main():
    workload = common.mlp()
    with common.mark.phase("construct"):
        rows, is_training = tf.compat.v1.placeholder(tf.float32, (None, 784)), tf.compat.v1.placeholder(tf.bool)
        logits = build(workload.args, rows, is_training, training.variables(workload.weights))
        optimizer = tf.compat.v1.train.RMSPropOptimizer(0.001, decay=0.9, epsilon=1e-7)
        functions = training.steps(logits, rows, is_training, optimizer)
    common.mark.model(["dense_1", "dropout_1", "dense_2", "dropout_2", "dense_3"], "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
