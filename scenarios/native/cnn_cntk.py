"""The MNIST CNN of `scenarios/cnn.py` in CNTK, without Keras."""

import cntk

import common
import training_cntk as training


def build(args, rows, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    k1, b1, k2, b2, d1, b3, d2, b4 = weights
    maps = cntk.relu(training.convolution("conv_1", rows, k1, b1), name="relu_1")
    maps = cntk.relu(training.convolution("conv_2", maps, k2, b2), name="relu_2")
    maps = training.dropout("dropout_1", training.pool("pool_1", maps, cntk.MAX_POOLING), common.rate(args, 0.25))
    hidden = cntk.relu(training.dense("dense_1", cntk.flatten(maps), d1, b3), name="relu_3")
    return training.dense("dense_2", training.dropout("dropout_2", hidden, common.rate(args, 0.5)), d2, b4)


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, *rest = workload.weights
    kernels = [common.kernel_channels_first(kernel) for kernel in (k1, k2)]
    with common.mark.phase("construct"):
        dense = common.rows_channels_first(d1, (12, 12, 64))
        rows, weights = cntk.input_variable((1, 28, 28)), [kernels[0], b1, kernels[1], b2, dense, *rest]
        weights = training.parameters(weights)
        logits = build(workload.args, rows, weights)
        functions = training.steps(logits, rows, 10, training.rmsprop(weights))
    common.mark.model(logits, "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
