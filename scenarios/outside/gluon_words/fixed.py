import time

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

mx.random.seed(0)
np.random.seed(0)
WORDS, DIM = 120000, 64


class Tagger(gluon.nn.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.words = gluon.nn.Embedding(WORDS, DIM, sparse_grad=True)
            self.hidden = gluon.nn.Dense(32, activation="tanh", flatten=False)
            self.out = gluon.nn.Dense(12, flatten=False)

    def hybrid_forward(self, F, ids):
        return self.out(self.hidden(self.words(ids)))


ids = np.random.randint(0, WORDS, (960, 16))
x, y = nd.array(ids), nd.array(ids % 12)
model = Tagger()
model.initialize(mx.init.Normal(0.1))
model.hybridize()
trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.01, "lazy_update": True})
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

for epoch in range(2):
    t, total = time.time(), 0.0
    for i in range(0, len(ids), 16):
        with autograd.record():
            loss = loss_fn(model(x[i:i + 16]), y[i:i + 16])
        loss.backward()
        trainer.step(16)
        total += loss.mean().asscalar()
    print("epoch", epoch, "loss %.3f" % (total / 60), "%.1f s" % (time.time() - t))
