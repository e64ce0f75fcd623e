"""Steps of training and inference with Chainer."""

import chainer
import numpy as np
from chainer import functions


def load(model, arrays):
    """Give a model its initial weights, by name: `dense_1/W` and so on."""
    for name, parameter in model.namedparams():
        parameter.array = np.ascontiguousarray(arrays[name.lstrip("/")], "float32")


def steps(model, optimizer):
    """The functions that `common.run` takes; `model` gives logits."""
    optimizer.setup(model)

    def step(rows, labels):
        with chainer.using_config("train", True):
            loss = functions.softmax_cross_entropy(model(rows), labels.argmax(1))
            model.cleargrads()
            loss.backward()
            optimizer.update()
        return float(loss.array)

    def test(rows, labels):
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            found = model(rows)
            loss = functions.softmax_cross_entropy(found, labels.argmax(1))
            return float(loss.array), int((found.array.argmax(1) == labels.argmax(1)).sum())

    def predict(rows):
        with chainer.using_config("train", False), chainer.no_backprop_mode():
            return functions.softmax(model(rows)).array

    return step, test, predict
