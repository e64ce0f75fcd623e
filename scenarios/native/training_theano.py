"""Layers, optimisers and compiled steps with Theano."""

import numpy as np
import theano
from theano import tensor
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.signal import pool as pooling


def shared(arrays):
    """The weights of a model."""
    return [theano.shared(np.ascontiguousarray(array, "float32")) for array in arrays]


def dense(rows, kernel, bias):
    """A dense layer."""
    return tensor.dot(rows, kernel) + bias


def convolution(rows, kernel, bias, border="valid"):
    """A convolution of images with the colours first; `kernel` is turned around by Theano, so it comes turned."""
    return tensor.nnet.conv2d(rows, kernel, border_mode=border) + bias.dimshuffle("x", 0, "x", "x")


def turned(kernel):
    """The kernel of a convolution for Theano, from (outputs, inputs, height, width)."""
    return kernel[:, :, ::-1, ::-1]


def pool(rows, mode):
    """Windows of 2 x 2."""
    return pooling.pool_2d(rows, ws=(2, 2), ignore_border=True, mode=mode)


class Dropout(object):
    """Dropout from one stream of random numbers."""

    def __init__(self, seed):
        self._stream = MRG_RandomStreams(seed)

    def __call__(self, rows, rate, *, training):
        """`rows`, with some set to 0 in training."""
        if not training or not rate:
            return rows
        kept = self._stream.binomial(rows.shape, p=1.0 - rate, dtype="float32")
        return rows * kept / np.float32(1.0 - rate)


def rmsprop(weights, gradients, learning_rate=0.001, rho=0.9, epsilon=1e-7):
    """Updates of RMSprop, as Keras 2 has them."""
    updates = []
    for weight, gradient in zip(weights, gradients):
        square = theano.shared(np.zeros_like(weight.get_value()))
        new = np.float32(rho) * square + np.float32(1 - rho) * tensor.sqr(gradient)
        step = np.float32(learning_rate) * gradient / (tensor.sqrt(new) + np.float32(epsilon))
        updates += [(square, new), (weight, weight - step)]
    return updates


def adam(weights, gradients, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    """Updates of Adam."""
    time = theano.shared(np.float32(0))
    later = time + np.float32(1)
    rate = np.float32(learning_rate) * tensor.sqrt(1 - np.float32(beta_2) ** later) / (1 - np.float32(beta_1) ** later)
    updates = [(time, later)]
    for weight, gradient in zip(weights, gradients):
        first, second = (theano.shared(np.zeros_like(weight.get_value())) for _ in range(2))
        new_first = np.float32(beta_1) * first + np.float32(1 - beta_1) * gradient
        new_second = np.float32(beta_2) * second + np.float32(1 - beta_2) * tensor.sqr(gradient)
        step = rate * new_first / (tensor.sqrt(new_second) + np.float32(epsilon))
        updates += [(first, new_first), (second, new_second), (weight, weight - step)]
    return updates


def sgd(weights, gradients, learning_rate):
    """Updates of gradient descent."""
    return [(w, w - np.float32(learning_rate) * g) for w, g in zip(weights, gradients)]


def steps(model, weights, optimizer, rows, mode="train"):
    """The functions that `common.run` takes, compiled.

    Args:
        model: Function from rows and whether it is training to probabilities.
        weights: Shared variables.
        optimizer: Function from weights and gradients to updates.
        rows: Symbol of the rows.
        mode: `train` or `infer`: only what that needs is compiled.
    """
    labels = tensor.fmatrix("labels")
    found = model(rows, False)
    predict = theano.function([rows], found, name="predict") if mode == "infer" else None
    step = test = None
    if mode == "train":
        loss = tensor.nnet.categorical_crossentropy(model(rows, True), labels).mean()
        updates = optimizer(weights, theano.grad(loss, weights))
        step = theano.function([rows, labels], loss, updates=updates, name="step")
        right = tensor.eq(found.argmax(1), labels.argmax(1)).sum()
        tested = tensor.nnet.categorical_crossentropy(found, labels).mean()
        test = theano.function([rows, labels], [tested, right], name="test")
    return step, test, predict
