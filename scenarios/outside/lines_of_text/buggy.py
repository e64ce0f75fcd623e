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
    while True:
        xs, ys = [], []
        for line in open(path):
            values = [np.float32(v) for v in line.strip().split(",")]
            xs.append(values[:-1])
            ys.append(int(values[-1]))
            if len(xs) == batch_size:
                yield np.array(xs), utils.to_categorical(ys, 10)
                xs, ys = [], []


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
