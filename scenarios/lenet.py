"""LeNet on MNIST-shaped images, and the time that one image takes.

python lenet.py                       # single images, one after another
python lenet.py --mode train --samples 2048 --batch-size 128
"""

import time

import numpy as np

from keras.layers import AveragePooling2D, Conv2D, Dense, Flatten
from keras.models import Sequential

import workload

SHAPE = (28, 28, 1)


def build_model(args):
    """Conv 6 5x5, AveragePool 2, Conv 16 5x5, AveragePool 2, Dense 120, Dense 84, all with tanh; Dense 10 softmax."""
    model = Sequential()
    first = workload.start(model, SHAPE)
    model.add(Conv2D(6, (5, 5), padding="same", activation="tanh", name="conv_1", **first))
    model.add(AveragePooling2D((2, 2), name="pool_1"))
    model.add(Conv2D(16, (5, 5), activation="tanh", name="conv_2"))
    model.add(AveragePooling2D((2, 2), name="pool_2"))
    model.add(Flatten(name="flatten"))
    model.add(Dense(120, activation="tanh", name="dense_1"))
    model.add(Dense(84, activation="tanh", name="dense_2"))
    model.add(Dense(10, activation="softmax", name="dense_3"))
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("SGD", 0.05), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def latency(model, rows, args):
    """Predict image after image; the first one, which compiles, is told apart."""
    seconds, total = [], 0.0
    for _ in range(args.epochs):
        for row in rows:
            start = time.time()
            total += float(model.predict(row[None], batch_size=1, verbose=0).sum())
            seconds.append(time.time() - start)
    print("predicted %d images one by one, sum %.4f" % (len(seconds), total))
    if args.timing:
        rest = seconds[1:] or seconds
        print("first %.3f ms, then median %.3f ms, 95 %% %.3f ms"
              % (1e3 * seconds[0], 1e3 * np.median(rest), 1e3 * np.percentile(rest, 95)))  # fmt: skip


def main():
    parser = workload.arguments("Latency or training of LeNet with Keras.", 200, 1, 1, mode="infer")
    args = workload.parse(parser)
    workload.set_seeds(args.seed)
    rows, labels = workload.images(args.data, "mnist", args.samples, SHAPE, args.seed)
    model = build_model(args)
    if args.mode == "infer" and args.batch_size == 1:
        latency(model, rows, args)
    else:
        workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
