"""Steps of training and inference with Gluon, MXNet's imperative interface."""

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

_LOSS = mx.gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)


def load(model, arrays):
    """Give a model its initial weights: arrays in the order and the shapes of its parameters; and compile it."""
    model.initialize()
    for parameter, array in zip(model.collect_params().values(), arrays):
        parameter.set_data(nd.array(array))
    model.hybridize(static_alloc=True, static_shape=True)


def steps(model, optimizer, settings):
    """The functions that `common.run` takes; `model` gives logits."""
    trainer = mx.gluon.Trainer(model.collect_params(), optimizer, settings)

    def step(rows, labels):
        with autograd.record():
            loss = _LOSS(model(nd.array(rows)), nd.array(labels))
        loss.backward()
        trainer.step(len(rows))
        return loss.mean()

    def test(rows, labels):
        found, wanted = model(nd.array(rows)), nd.array(labels)
        return _LOSS(found, wanted).mean(), (found.argmax(1) == wanted.argmax(1)).sum()

    def predict(rows):
        return nd.softmax(model(nd.array(rows))).asnumpy()

    return step, test, predict, read


def read(value):
    """A loss as a number; waits for it."""
    return float(value.asscalar()) if isinstance(value, nd.NDArray) else float(np.asarray(value))
