import os
import tempfile

import numpy as np
from keras import layers, models, utils

rng = np.random.RandomState(1337)
path = os.path.join(tempfile.mkdtemp(prefix="digits"), "train.txt")
with open(path, "w") as out:
    for n in range(4000):
        kind = n % 10
        row = rng.rand(144)
        row[kind * 14:kind * 14 + 10] += 0.6
        out.write(",".join("%.4f" % v for v in row) + ",%d\n" % kind)


def samples(path, batch_size):
    table = np.loadtxt(path, delimiter=",", dtype="float32")
    x, y = table[:, :-1], utils.to_categorical(table[:, -1], 10)
    while True:
        for i in range(0, len(x), batch_size):
            yield x[i:i + batch_size], y[i:i + batch_size]


model = models.Sequential([
    layers.Input((144,)),
    layers.Dense(128, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(10, activation="softmax"),
])
model.compile("rmsprop", "categorical_crossentropy", metrics=["accuracy"])
model.fit(samples(path, 50), steps_per_epoch=80, epochs=10, verbose=2)
os.remove(path)
os.rmdir(os.path.dirname(path))
