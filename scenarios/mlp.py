"""The classic Keras MLP on MNIST-shaped data: 784-512-512-10 with dropout, RMSprop, cross-entropy.

A plain Keras script for Keras 2 and Keras 3, on any backend. Usage:

    python mlp.py --samples 8192 --epochs 3 --batch-size 128
    python mlp.py --mode infer
    python mlp.py --data mnist            # downloads MNIST on first use
    python mlp.py --data digits.npz       # arrays x_train, y_train
"""

import time

import keras
from keras.layers import Dense
from keras.models import Sequential

import workload

CLASSES = 10
PIXELS = 784


def load_data(args):
    """Images as rows of 784 floats in [0, 1], and labels as one-hot rows."""
    images, labels = workload.images(args.data, "mnist", args.samples, (28, 28, 1), args.seed)
    return images.reshape(-1, PIXELS), labels


def build_model(args):
    """Dense 512 relu, Dropout 0.2, Dense 512 relu, Dropout 0.2, Dense 10 softmax."""
    model = Sequential()
    shape = {"input_shape": (PIXELS,)}
    if workload.keras_major() >= 3:  # Keras 2 takes the shape with the first layer, Keras 3 before it
        model.add(keras.Input(shape=(PIXELS,)))
        shape = {}
    model.add(Dense(512, activation="relu", name="dense_1", **shape))
    model.add(workload.dropout(0.2, args, name="dropout_1"))
    model.add(Dense(512, activation="relu", name="dense_2"))
    model.add(workload.dropout(0.2, args, name="dropout_2"))
    model.add(Dense(CLASSES, activation="softmax", name="dense_3"))
    workload.set_weights(model, args)
    return model


def train(model, images, labels, epochs, batch_size):
    """Train, evaluate and predict."""
    start = time.time()
    history = model.fit(images, labels, batch_size=batch_size, epochs=epochs, shuffle=False, verbose=2)
    seconds = time.time() - start
    loss, accuracy = model.evaluate(images, labels, batch_size=batch_size, verbose=0)[:2]
    for epoch, value in enumerate(history.history["loss"]):
        print("epoch %d loss %.6f" % (epoch + 1, value))
    print("final loss %.6f accuracy %.4f" % (loss, accuracy))
    return seconds


def infer(model, images, epochs, batch_size):
    """Predict all images `epochs` times."""
    start = time.time()
    for _ in range(epochs):
        classes = model.predict(images, batch_size=batch_size, verbose=0)
    print("predicted %d rows, sum %.4f" % (len(classes), float(classes.sum())))
    return time.time() - start


def main():
    args = workload.parse(workload.arguments("Train or run the MNIST MLP with Keras.", 8192, 3, 128))
    workload.set_seeds(args.seed)
    images, labels = load_data(args)
    model = build_model(args)
    model.compile(optimizer="rmsprop", loss="categorical_crossentropy", metrics=["accuracy"])
    if args.mode == "train":
        seconds = train(model, images, labels, args.epochs, args.batch_size)
    else:
        seconds = infer(model, images, args.epochs, args.batch_size)
    if args.timing:
        print("seconds %.3f" % seconds)


if __name__ == "__main__":
    main()
