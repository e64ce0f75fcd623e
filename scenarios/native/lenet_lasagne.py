"""LeNet of `scenarios/lenet.py` in Lasagne, without Keras."""

from functools import partial

from lasagne.layers import Conv2DLayer, DenseLayer, InputLayer, Pool2DLayer
from lasagne.nonlinearities import softmax, tanh
from lasagne.updates import sgd
from theano import tensor

import common
import training_lasagne as training


def build(rows, weights):
    """Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, Dense 120, 84 and 10, with tanh."""
    network = InputLayer((None, 1, 28, 28), rows)
    network = Conv2DLayer(network, 6, 5, pad="same", nonlinearity=tanh, name="conv_1")
    network = Pool2DLayer(network, 2, mode="average_exc_pad")
    network = Conv2DLayer(network, 16, 5, nonlinearity=tanh, name="conv_2")
    network = Pool2DLayer(network, 2, mode="average_exc_pad")
    network = DenseLayer(network, 120, nonlinearity=tanh, name="dense_1")
    network = DenseLayer(network, 84, nonlinearity=tanh, name="dense_2")
    network = DenseLayer(network, 10, nonlinearity=softmax, name="dense_3")
    k1, b1, k2, b2, d1, *rest = weights
    kernels = [training.turned(common.kernel_channels_first(kernel)) for kernel in (k1, k2)]
    training.load(network, [kernels[0], b1, kernels[1], b2, common.rows_channels_first(d1, (5, 5, 16)), *rest])
    return network


def main():
    workload = common.lenet()
    workload.rows = common.channels_first(workload.rows)
    rows = tensor.ftensor4("rows")
    with common.mark.phase("construct"):
        network = build(rows, workload.weights)
    optimizer = partial(sgd, learning_rate=0.05)
    common.run(workload, *training.steps(network, rows, optimizer, workload.args.mode))


if __name__ == "__main__":
    main()
