"""A deep network in Gluon whose gradients are kept from growing."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

DEPTH, STEPS = 24, 320


def bound(grads, most):
    squares = mx.nd.multi_sum_sq(*grads, num_arrays=len(grads)).sum()
    length = float(squares.sqrt().asscalar())
    if length > most:
        for grad in grads:
            grad *= most / length
    return length


def main():
    mx.random.seed(0)
    rng = np.random.default_rng(0)
    x = mx.nd.array(rng.normal(size=(4096, 48)))
    y = mx.nd.array(rng.normal(size=(4096, 1)))
    net = nn.HybridSequential()
    for _ in range(DEPTH):
        net.add(nn.Dense(48, activation="tanh"))
    net.add(nn.Dense(1))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    criterion = gluon.loss.L2Loss()
    for step in range(STEPS):
        at = step * 64 % 4096
        with autograd.record():
            loss = criterion(net(x[at : at + 64]), y[at : at + 64])
        loss.backward()
        grads = [p.grad() for p in net.collect_params().values()]
        length = bound(grads, 64 * 1.0)
        trainer.step(64)
        if step % 80 == 0:
            print(step, loss.mean().asscalar(), length)


main()
