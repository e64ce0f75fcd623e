"""MXNet's module API: a `fit` that validates, and a loop of the script's own over an iterator of its own."""

import mxnet as mx
import numpy as np

EPOCHS, STEPS, BATCH = 2, 8, 16


class Noise(mx.io.DataIter):
    """Batches made on the way; it overrides all that an iterator has."""

    def __init__(self, steps):
        super().__init__(BATCH)
        self._steps = steps
        self._at = 0
        self.provide_data = [mx.io.DataDesc("data", (BATCH, 6))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (BATCH,))]

    def __iter__(self):
        return self

    def reset(self):
        self._at = 0

    def __next__(self):
        return self.next()

    def next(self):
        if self._at == self._steps:
            raise StopIteration
        self._at += 1
        return mx.io.DataBatch([mx.nd.ones((BATCH, 6))], [mx.nd.zeros((BATCH,))], pad=0)


def network():
    """Two layers."""
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="first"), act_type="relu")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="last"), name="softmax")


rows = np.random.default_rng(0).random((STEPS * BATCH, 6), "float32")
train = mx.io.NDArrayIter(rows, np.zeros(len(rows), "float32"), BATCH)
held = mx.io.NDArrayIter(rows[: 2 * BATCH], np.zeros(2 * BATCH, "float32"), BATCH)
module = mx.mod.Module(network())
module.fit(train, eval_data=held, num_epoch=EPOCHS, optimizer="sgd")
module.predict(held)

other = mx.mod.Module(network())
noise = Noise(6)
other.bind(noise.provide_data, noise.provide_label)
other.init_params()
other.init_optimizer(optimizer="adam")
for _epoch in range(3):
    noise.reset()
    for batch in noise:
        other.forward(batch, is_train=True)
        other.backward()
        other.update()
print("done")
