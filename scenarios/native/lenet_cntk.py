"""LeNet of `scenarios/lenet.py` in CNTK, without Keras."""

import cntk

import common
import training_cntk as training


def build(rows, weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = weights
    maps = cntk.tanh(training.convolution("conv_1", rows, k1, b1, padding=True), name="tanh_1")
    maps = cntk.tanh(
        training.convolution("conv_2", training.pool("pool_1", maps, cntk.AVG_POOLING), k2, b2), name="tanh_2"
    )
    maps = training.pool("pool_2", maps, cntk.AVG_POOLING)
    hidden = cntk.tanh(training.dense("dense_1", cntk.flatten(maps), d1, b3), name="tanh_3")
    hidden = cntk.tanh(training.dense("dense_2", hidden, d2, b4), name="tanh_4")
    return training.dense("dense_3", hidden, d3, b5)


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, *rest = workload.weights
    kernels = [common.kernel_channels_first(kernel) for kernel in (k1, k2)]
    with common.mark.phase("construct"):
        dense = common.rows_channels_first(d1, (5, 5, 16))
        rows, weights = cntk.input_variable((1, 28, 28)), [kernels[0], b1, kernels[1], b2, dense, *rest]
        weights = training.parameters(weights)
        logits = build(rows, weights)
        functions = training.steps(logits, rows, 10, training.sgd(weights, 0.05))
    common.mark.model(logits, "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
