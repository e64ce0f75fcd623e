"""The MNIST CNN of `scenarios/cnn.py` in Gluon, without Keras."""

import mxnet as mx
from mxnet.gluon.nn import Conv2D, Dense, Dropout, Flatten, HybridSequential, MaxPool2D

import common
import training_gluon as training


def build(args, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    model = HybridSequential()
    model.add(
        Conv2D(32, 3, activation="relu", in_channels=1), Conv2D(64, 3, activation="relu", in_channels=32),
        MaxPool2D(2), Dropout(common.rate(args, 0.25)), Flatten(),
        Dense(128, activation="relu", in_units=9216), Dropout(common.rate(args, 0.5)), Dense(10, in_units=128),
    )  # fmt: skip
    k1, b1, k2, b2, d1, b3, d2, b4 = weights
    convolutions = [common.kernel_channels_first(k1), b1, common.kernel_channels_first(k2), b2]
    training.load(model, [*convolutions, common.rows_channels_first(d1, (12, 12, 64)).T, b3, d2.T, b4])
    return model


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    mx.random.seed(workload.args.seed)
    with common.mark.phase("construct"):
        model = build(workload.args, workload.weights)
    rmsprop = {"learning_rate": 0.001, "gamma1": 0.9, "epsilon": 1e-7}
    common.run(workload, *training.steps(model, "rmsprop", rmsprop))


if __name__ == "__main__":
    main()
