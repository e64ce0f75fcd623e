"""The MNIST MLP of `scenarios/mlp.py` in TensorFlow 2, without Keras."""

import tensorflow as tf

import common
import training_tensorflow as training


def build(args):
    """784-512-512-10 with dropout: a function from weights and rows to logits."""
    rate = common.rate(args, 0.2)

    def model(weights, rows, is_training):
        k1, b1, k2, b2, k3, b3 = weights
        hidden = tf.nn.relu(training.dense("dense_1", rows, k1, b1))
        hidden = training.dropout("dropout_1", hidden, rate, training=is_training)
        hidden = tf.nn.relu(training.dense("dense_2", hidden, k2, b2))
        hidden = training.dropout("dropout_2", hidden, rate, training=is_training)
        return training.dense("dense_3", hidden, k3, b3)

    return model


def main():
    workload = common.mlp()
    tf.random.set_seed(workload.args.seed)
    with common.mark.phase("construct"):
        weights = training.variables(workload.weights)
        optimizer = training.RMSprop(weights)
    common.mark.model(["dense_1", "dropout_1", "dense_2", "dropout_2", "dense_3"], "optimizer")
    common.run(workload, *training.steps(build(workload.args), weights, optimizer))


if __name__ == "__main__":
    main()
