"""Trains an MLP call by call and prints the median time per step: a plain Keras script (2 and 3)."""

import argparse
import time

import keras
import numpy as np
from keras.layers import Dense, Dropout
from keras.models import Sequential


def build(width):
    model = Sequential()
    if keras.__version__.startswith("3"):
        model.add(keras.Input(shape=(784,)))
        model.add(Dense(width, activation="relu"))
    else:
        model.add(Dense(width, activation="relu", input_shape=(784,)))
    model.add(Dropout(0.2))
    model.add(Dense(width, activation="relu"))
    model.add(Dense(10, activation="softmax"))
    model.compile(optimizer="rmsprop", loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--width", type=int, default=512)
    args = parser.parse_args()
    rng = np.random.RandomState(0)
    x = rng.rand(args.steps * 128, 784).astype("float32")
    y = np.eye(10, dtype="float32")[rng.randint(0, 10, len(x))]
    model = build(args.width)
    times = []
    for _ in range(args.calls):
        start = time.perf_counter()
        model.fit(x, y, batch_size=128, epochs=1, verbose=0)
        times.append((time.perf_counter() - start) / args.steps)
    print("STEP_MS %.4f" % (1e3 * sorted(times[2:])[len(times[2:]) // 2]))


main()
