import random
import time

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

mx.random.seed(26)
np.random.seed(26)
random.seed(26)
raw = np.random.randint(0, 100, (3000, 28, 28)).astype("uint8")
labels = np.random.randint(0, 5, 3000)
for img, l in zip(raw, labels):
    img[l * 5:l * 5 + 4] += 120
images = [nd.array(img, dtype="float32") / 255 for img in raw]

net = gluon.nn.HybridSequential()
with net.name_scope():
    net.add(gluon.nn.Flatten())
    net.add(gluon.nn.Dense(64, activation="relu"))
    net.add(gluon.nn.Dense(5))
net.hybridize()
net.initialize(mx.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()

for epoch in range(10):
    begin = time.time()
    order = list(range(len(images)))
    random.shuffle(order)
    total = 0.0
    for k in range(0, len(order), 60):
        pick = order[k:k + 60]
        x = nd.stack(*[images[j] for j in pick])
        y = nd.concat(*[nd.array([labels[j]]) for j in pick], dim=0)
        with autograd.record():
            loss = loss_fn(net(x), y)
        loss.backward()
        trainer.step(len(pick))
        total += loss.mean().asscalar()
    print("epoch %d, loss %.3f, %.2f s" % (epoch, total / 50, time.time() - begin))
