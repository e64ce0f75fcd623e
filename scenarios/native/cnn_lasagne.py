"""The MNIST CNN of `scenarios/cnn.py` in Lasagne, without Keras."""

from functools import partial

from lasagne.layers import Conv2DLayer, DenseLayer, DropoutLayer, InputLayer, MaxPool2DLayer
from lasagne.nonlinearities import softmax
from lasagne.updates import rmsprop
from theano import tensor

import common
import training_lasagne as training


def build(args, rows, weights):
    """Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10, with dropout."""
    network = InputLayer((None, 1, 28, 28), rows)
    network = Conv2DLayer(network, 32, 3, name="conv_1")
    network = Conv2DLayer(network, 64, 3, name="conv_2")
    network = DropoutLayer(MaxPool2DLayer(network, 2), common.rate(args, 0.25))
    network = DropoutLayer(DenseLayer(network, 128, name="dense_1"), common.rate(args, 0.5))
    network = DenseLayer(network, 10, nonlinearity=softmax, name="dense_2")
    k1, b1, k2, b2, d1, *rest = weights
    kernels = [training.turned(common.kernel_channels_first(kernel)) for kernel in (k1, k2)]
    training.load(network, [kernels[0], b1, kernels[1], b2, common.rows_channels_first(d1, (12, 12, 64)), *rest])
    return network


def main():
    workload = common.cnn()
    workload.rows = common.channels_first(workload.rows)
    rows = tensor.ftensor4("rows")
    with common.mark.phase("construct"):
        network = build(workload.args, rows, workload.weights)
    optimizer = partial(rmsprop, learning_rate=0.001, rho=0.9, epsilon=1e-7)
    common.run(workload, *training.steps(network, rows, optimizer, workload.args.mode))


if __name__ == "__main__":
    main()
