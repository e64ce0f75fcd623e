"""Gluon, and an evaluation of 3 batches after each of 2 epochs of 6 steps; then 3 steps of two batches each, of one loader."""

import mxnet as mx
from mxnet import autograd, gluon

mx.random.seed(0)
rows, wanted = mx.nd.random.normal(shape=(96, 8)), mx.nd.random.normal(shape=(96, 1))
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(rows, wanted), batch_size=16)
held_out = gluon.data.DataLoader(gluon.data.ArrayDataset(rows[:48], wanted[:48]), batch_size=16)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(1))
net.initialize()
loss_fn = gluon.loss.L2Loss()


def train(trainer, every):
    for n, (x, y) in enumerate(loader):
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        if (n + 1) % every == 0:
            trainer.step(every * len(x))


trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
for epoch in range(2):
    train(trainer, 1)
    metric = mx.metric.MSE()
    for x, y in held_out:
        metric.update(y, net(x))
    print(epoch, round(metric.get()[1], 4))
    net.hybridize()
for parameter in net.collect_params().values():
    parameter.grad_req = "add"
train(gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001}), 2)
