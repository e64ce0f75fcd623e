"""A loop over one iterator that goes on from epoch to epoch, 2 of 6 steps; then Chainer's own Trainer, 3 of 6."""

import chainer
import numpy as np
from chainer import functions as F
from chainer import iterators, training

np.random.seed(0)
rows = [(np.random.randn(8).astype("f"), np.random.randn(1).astype("f")) for _ in range(96)]
model = chainer.Sequential(chainer.links.Linear(8, 8), F.relu, chainer.links.Linear(8, 1))
optimizer = chainer.optimizers.SGD(0.01).setup(model)
batches = iterators.SerialIterator(rows, 16)
while batches.epoch < 2:
    x, y = chainer.dataset.concat_examples(batches.next())
    loss = F.mean_squared_error(model(x), y)
    model.cleargrads()
    loss.backward()
    optimizer.update()
print(float(loss.array))


class Judged(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.inner = chainer.links.Linear(8, 1)

    def forward(self, x, y):
        return F.mean_squared_error(self.inner(x), y)


updater = training.StandardUpdater(iterators.SerialIterator(rows, 16), chainer.optimizers.SGD(0.01).setup(Judged()))
trainer = training.Trainer(updater, (3, "epoch"), out="/tmp")
trainer.run()
print(updater.iteration)
