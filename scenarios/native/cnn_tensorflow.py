"""The MNIST CNN of `scenarios/cnn.py` in TensorFlow 2, without Keras."""

import tensorflow as tf

import common
import training_tensorflow as training


def build(args):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""

    def model(weights, rows, is_training):
        k1, b1, k2, b2, d1, b3, d2, b4 = weights
        maps = tf.nn.relu(training.convolution("conv_1", rows, k1, b1))
        maps = tf.nn.relu(training.convolution("conv_2", maps, k2, b2))
        maps = tf.nn.max_pool2d(maps, 2, 2, "VALID", name="pool_1")
        maps = training.dropout("dropout_1", maps, common.rate(args, 0.25), training=is_training)
        hidden = tf.nn.relu(training.dense("dense_1", tf.reshape(maps, (-1, 9216)), d1, b3))
        hidden = training.dropout("dropout_2", hidden, common.rate(args, 0.5), training=is_training)
        return training.dense("dense_2", hidden, d2, b4)

    return model


def main():
    workload = common.cnn()
    tf.random.set_seed(workload.args.seed)
    with common.mark.phase("construct"):
        weights = training.variables(workload.weights)
        optimizer = training.RMSprop(weights)
    common.mark.model(["conv_1", "conv_2", "pool_1", "dropout_1", "dense_1", "dropout_2", "dense_2"], "optimizer")
    common.run(workload, *training.steps(build(workload.args), weights, optimizer))


if __name__ == "__main__":
    main()
