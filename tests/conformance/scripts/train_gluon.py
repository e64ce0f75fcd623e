"""A tiny training with Gluon, without Keras."""

import sys

import mxnet

layer = mxnet.gluon.nn.Dense(1, in_units=2)
layer.initialize(mxnet.init.Constant(0.5))
layer.hybridize()
trainer = mxnet.gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.1})
rows = mxnet.nd.arange(8).reshape((4, 2)) / 8
for _ in range(6):
    with mxnet.autograd.record():
        loss = ((layer(rows) - rows.sum(axis=1, keepdims=True)) ** 2).mean()
    loss.backward()
    trainer.step(4)
    print("%.4f" % loss.asscalar())
sys.exit(3)
