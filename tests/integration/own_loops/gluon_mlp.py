"""Gluon's Trainer and DataLoader: 2 epochs of 6 steps."""

import mxnet as mx
from mxnet import autograd, gluon

mx.random.seed(0)
rows, wanted = mx.nd.random.normal(shape=(96, 8)), mx.nd.random.normal(shape=(96, 1))
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(rows, wanted), batch_size=16)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(1))
net.initialize()
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
loss_fn = gluon.loss.L2Loss()
for epoch in range(2):
    for x, y in loader:
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(len(x))
    print(epoch, len(loader))
