"""Gluon's DataLoader over rows that take some time: 2 epochs of 8 steps; the argument is the number of workers."""

import sys
import time

import mxnet as mx
from mxnet import autograd, gluon


class Slow(gluon.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, number):
        time.sleep(0.04)
        return mx.nd.array([number] * 8), mx.nd.array([number])


mx.random.seed(0)
loader = gluon.data.DataLoader(Slow(), batch_size=8, num_workers=int(sys.argv[1]))
net = gluon.nn.Dense(1)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.0001})
loss_fn = gluon.loss.L2Loss()
for epoch in range(2):
    for x, y in loader:
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(len(x))
    print(epoch, round(float(loss.mean().asscalar()), 3))
