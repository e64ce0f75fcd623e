"""Digits out of a text file, with Keras on MXNet."""

import os
import tempfile

import keras
import numpy as np
from keras.layers import Dense
from keras.utils import to_categorical

LINES, PIXELS, BATCH = 3000, 256, 50


def written(path):
    rng = np.random.default_rng(0)
    digits = rng.integers(0, 10, LINES)
    pixels = rng.random((LINES, PIXELS)) + digits[:, None] * 0.1
    with open(path, "w") as file:
        for digit, row in zip(digits, pixels):
            file.write(",".join("%.4f" % value for value in row) + ",%d\n" % digit)


def batches(path, size):
    table = np.loadtxt(path, delimiter=",", dtype="float32")
    while True:
        for start in range(0, len(table), size):
            rows = table[start : start + size]
            yield rows[:, :-1], to_categorical(rows[:, -1].astype(int), 10)


def main():
    np.random.seed(0)
    path = os.path.join(tempfile.mkdtemp(), "digits.csv")
    written(path)
    model = keras.models.Sequential()
    model.add(Dense(256, activation="relu", input_shape=(PIXELS,)))
    model.add(Dense(256, activation="relu"))
    model.add(Dense(10, activation="softmax"))
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    model.fit_generator(batches(path, BATCH), steps_per_epoch=LINES // BATCH, epochs=5, verbose=2)


main()
