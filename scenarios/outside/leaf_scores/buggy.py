"""Kinds of leaves with Gluon; the accuracy is shown while it trains."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

LEAVES, FEATURES, KINDS = 6400, 64, 12


class Accuracy:
    def __init__(self):
        self.right = self.seen = 0

    def update(self, labels, outputs):
        for label, output in zip(labels, outputs):
            self.right += int(output.argmax(axis=0).asscalar() == label.asscalar())
            self.seen += 1

    def get(self):
        return self.right / self.seen


def main():
    mx.random.seed(0)
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, KINDS, LEAVES).astype("float32")
    leaves = (rng.normal(size=(LEAVES, FEATURES)) + kinds[:, None] * 0.1).astype("float32")
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(mx.nd.array(leaves), mx.nd.array(kinds)), batch_size=64)
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(256, activation="relu"), nn.Dense(KINDS))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(3):
        accuracy = Accuracy()
        for x, y in loader:
            with autograd.record():
                out = net(x)
                loss = criterion(out, y)
            loss.backward()
            trainer.step(len(x))
            accuracy.update(y, out)
        print(epoch, accuracy.get())


main()
