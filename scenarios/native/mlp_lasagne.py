"""The MNIST MLP of `scenarios/mlp.py` in Lasagne, without Keras."""

from functools import partial

from lasagne.layers import DenseLayer, DropoutLayer, InputLayer
from lasagne.nonlinearities import softmax
from lasagne.updates import rmsprop
from theano import tensor

import common
import training_lasagne as training


def build(args, rows, weights):
    """784-512-512-10 with dropout."""
    network = InputLayer((None, 784), rows)
    network = DropoutLayer(DenseLayer(network, 512, name="dense_1"), common.rate(args, 0.2))
    network = DropoutLayer(DenseLayer(network, 512, name="dense_2"), common.rate(args, 0.2))
    network = DenseLayer(network, 10, nonlinearity=softmax, name="dense_3")
    training.load(network, weights)
    return network


def main():
    workload = common.mlp()
    rows = tensor.fmatrix("rows")
    with common.mark.phase("construct"):
        network = build(workload.args, rows, workload.weights)
    optimizer = partial(rmsprop, learning_rate=0.001, rho=0.9, epsilon=1e-7)
    common.run(workload, *training.steps(network, rows, optimizer, workload.args.mode))


if __name__ == "__main__":
    main()
