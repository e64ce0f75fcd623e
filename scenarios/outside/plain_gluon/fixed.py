import time

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

mx.random.seed(3)
np.random.seed(3)
x = nd.array(np.random.rand(2400, 24))
y = nd.array((np.random.rand(2400) * 5).astype("int32"))


class Block(nn.HybridBlock):
    def __init__(self, units):
        super().__init__()
        with self.name_scope():
            self.a = nn.Dense(units, activation="relu", flatten=False)
            self.b = nn.Dense(units, flatten=False)
            self.norm = nn.LayerNorm()

    def hybrid_forward(self, F, h):
        return self.norm(h + F.tanh(self.b(self.a(h))))


net = nn.HybridSequential()
net.add(nn.Dense(24), *[Block(24) for _ in range(10)], nn.Dense(5))
net.initialize(mx.init.Xavier())
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

for epoch in range(8):
    t, total = time.time(), 0.0
    for i in range(0, 2400, 40):
        with autograd.record():
            loss = loss_fn(net(x[i:i + 40]), y[i:i + 40])
        loss.backward()
        trainer.step(40)
        total += loss.mean().asscalar()
    print(epoch, "%.3f" % (total / 60), "%.1f s" % (time.time() - t))
