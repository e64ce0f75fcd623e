"""Pictures of garments with Gluon: a small convolutional network."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

PICTURES = 4000


def as_tensor(picture, label):
    return mx.nd.moveaxis(mx.nd.array(picture), 2, 0).astype("float32") / 255, label


def main():
    mx.random.seed(0)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, PICTURES).astype("float32")
    pictures = (rng.integers(0, 60, (PICTURES, 28, 28, 1)) + labels[:, None, None, None] * 19).astype("uint8")
    data = gluon.data.ArrayDataset(pictures, labels).transform(as_tensor)
    loader = gluon.data.DataLoader(data, batch_size=100, shuffle=True)

    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, strides=2, activation="relu"), nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    for epoch in range(4):
        total = 0.0
        for x, y in loader:
            with autograd.record():
                loss = criterion(net(x), y)
            loss.backward()
            trainer.step(len(x))
            total += loss.mean().asscalar()
        print(epoch, total)


main()
