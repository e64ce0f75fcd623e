"""The classic Keras CNN on MNIST-shaped images: two convolutions, pooling, two dense layers, dropout, RMSprop.

A plain Keras script for Keras 2 and Keras 3, on any backend. Usage:

    python cnn.py --samples 2048 --epochs 2
    python cnn.py --mode infer
    python cnn.py --data mnist            # downloads MNIST on first use
"""

from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from keras.models import Sequential

import workload

SHAPE = (28, 28, 1)


def build_model(args):
    """Conv 32 relu, Conv 64 relu, MaxPool 2, Dropout 0.25, Dense 128 relu, Dropout 0.5, Dense 10 softmax."""
    model = Sequential()
    first = workload.start(model, SHAPE)
    model.add(Conv2D(32, (3, 3), activation="relu", name="conv_1", **first))
    model.add(Conv2D(64, (3, 3), activation="relu", name="conv_2"))
    model.add(MaxPooling2D((2, 2), name="pool_1"))
    model.add(workload.dropout(0.25, args, name="dropout_1"))
    model.add(Flatten(name="flatten"))
    model.add(Dense(128, activation="relu", name="dense_1"))
    model.add(workload.dropout(0.5, args, name="dropout_2"))
    model.add(Dense(10, activation="softmax", name="dense_2"))
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("RMSprop", 0.001), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    args = workload.parse(workload.arguments("Train or run the MNIST CNN with Keras.", 2048, 2, 128))
    workload.set_seeds(args.seed)
    rows, labels = workload.images(args.data, "mnist", args.samples, SHAPE, args.seed)
    model = build_model(args)
    workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
