"""LeNet of `scenarios/lenet.py` in Gluon, without Keras."""

from mxnet.gluon.nn import AvgPool2D, Conv2D, Dense, Flatten, HybridSequential

import common
import training_gluon as training


def build(weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    model = HybridSequential()
    model.add(
        Conv2D(6, 5, padding=2, activation="tanh", in_channels=1), AvgPool2D(2),
        Conv2D(16, 5, activation="tanh", in_channels=6), AvgPool2D(2), Flatten(),
        Dense(120, activation="tanh", in_units=400), Dense(84, activation="tanh", in_units=120), Dense(10, in_units=84),
    )  # fmt: skip
    k1, b1, k2, b2, d1, *rest = weights
    convolutions = [common.kernel_channels_first(k1), b1, common.kernel_channels_first(k2), b2]
    dense = common.rows_channels_first(d1, (5, 5, 16))
    training.load(model, [*convolutions, dense.T, *[weight.T for weight in rest]])
    return model


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    with common.mark.phase("construct"):
        model = build(workload.weights)
    common.run(workload, *training.steps(model, "sgd", {"learning_rate": 0.05}))


if __name__ == "__main__":
    main()
