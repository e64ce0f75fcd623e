"""Compiled steps of training and inference with Lasagne, which is on Theano."""

import numpy as np
import theano

theano.config.floatX = "float32"  # Lasagne asks for it when it is imported

import lasagne
from theano import tensor


def load(network, arrays):
    """Give a network its initial weights: arrays in the order and the shapes of its parameters."""
    lasagne.layers.set_all_param_values(network, [np.ascontiguousarray(array, "float32") for array in arrays])


def turned(kernel):
    """The kernel of a convolution, which Theano turns around, from (outputs, inputs, height, width)."""
    return kernel[:, :, ::-1, ::-1]


def steps(network, rows, optimizer, mode):
    """The functions that `common.run` takes, compiled.

    Args:
        network: The last layer; gives probabilities.
        rows: Symbol of the rows.
        optimizer: Function from loss and parameters to updates.
        mode: `train` or `infer`: only what that needs is compiled.
    """
    labels = tensor.fmatrix("labels")
    found = lasagne.layers.get_output(network, deterministic=True)
    predict = theano.function([rows], found, name="predict") if mode == "infer" else None
    step = test = None
    if mode == "train":
        loss = lasagne.objectives.categorical_crossentropy(lasagne.layers.get_output(network), labels).mean()
        updates = optimizer(loss, lasagne.layers.get_all_params(network, trainable=True))
        step = theano.function([rows, labels], loss, updates=updates, name="step")
        right = tensor.eq(found.argmax(1), labels.argmax(1)).sum()
        tested = lasagne.objectives.categorical_crossentropy(found, labels).mean()
        test = theano.function([rows, labels], [tested, right], name="test")
    return step, test, predict
