import time

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

mx.random.seed(8)


class Residual(nn.HybridBlock):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.a = nn.Dense(width, activation="relu")
        self.b = nn.Dense(width)
        self.norm = nn.LayerNorm()

    def hybrid_forward(self, F, x):
        return F.relu(self.norm(x + self.b(self.a(x))))


net = nn.HybridSequential()
net.add(nn.Dense(32, activation="relu"))
for _ in range(6):
    net.add(Residual(32))
net.add(nn.Dense(1))
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True)

X = nd.random.normal(shape=(3200, 20))
Y = (X[:, 0] * X[:, 1] > 0).astype("float32")
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
bce = gluon.loss.SigmoidBCELoss()

for epoch in range(8):
    tic, total = time.time(), 0.0
    for i in range(0, 3200, 32):
        x, y = X[i:i + 32], Y[i:i + 32]
        with autograd.record():
            loss = bce(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        total += loss.asscalar()
    print("epoch %d: loss %.4f (%.2f s)" % (epoch, total / 100, time.time() - tic))
