"""LeNet of `scenarios/lenet.py` in Theano, without Keras."""

from functools import partial

from theano import tensor

import common
import training_theano as training


def build(weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    k1, b1, k2, b2, d1, b3, d2, b4, d3, b5 = weights

    def model(rows, _is_training):
        maps = training.pool(tensor.tanh(training.convolution(rows, k1, b1, "half")), "average_exc_pad")
        maps = training.pool(tensor.tanh(training.convolution(maps, k2, b2)), "average_exc_pad")
        hidden = tensor.tanh(training.dense(maps.flatten(2), d1, b3))
        hidden = tensor.tanh(training.dense(hidden, d2, b4))
        return tensor.nnet.softmax(training.dense(hidden, d3, b5))

    return model


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    k1, b1, k2, b2, d1, *rest = workload.weights
    kernels = [training.turned(common.kernel_channels_first(kernel)) for kernel in (k1, k2)]
    with common.mark.phase("construct"):
        dense = common.rows_channels_first(d1, (5, 5, 16))
        weights = training.shared([kernels[0], b1, kernels[1], b2, dense, *rest])
        model = build(weights)
    optimizer = partial(training.sgd, learning_rate=0.05)
    functions = training.steps(model, weights, optimizer, tensor.ftensor4("rows"), workload.args.mode)
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
