"""The classic Keras MLP on MNIST-shaped data: 784-512-512-10 with dropout, RMSprop, cross-entropy.

A plain Keras script for Keras 2 and Keras 3, on any backend. Usage:

    python mlp.py --samples 8192 --epochs 3 --batch-size 128
    python mlp.py --mode infer
    python mlp.py --data mnist            # downloads MNIST on first use
    python mlp.py --data digits.npz       # arrays x_train, y_train (and x_test, y_test)
"""

import argparse
import random
import time

import numpy as np

import keras
from keras.layers import Dense, Dropout
from keras.models import Sequential

CLASSES = 10
PIXELS = 784


def synthetic(samples, seed):
    """Images of ten noisy patterns, one per class: learnable, and the same on every machine."""
    rng = np.random.RandomState(seed)
    patterns = rng.rand(CLASSES, PIXELS)
    labels = rng.randint(0, CLASSES, samples)
    images = 0.35 * patterns[labels] + 0.65 * rng.rand(samples, PIXELS)
    return images.astype("float32"), labels


def from_file(path):
    """Images and labels of an .npz file with the arrays of Keras' mnist.npz."""
    with np.load(path) as arrays:
        return arrays["x_train"], arrays["y_train"]


def from_mnist():
    """The real MNIST, through Keras' own loader."""
    from keras.datasets import mnist

    (images, labels), _ = mnist.load_data()
    return images, labels


def load_data(source, samples, seed):
    """Training images as rows of 784 floats in [0, 1], and labels as one-hot rows."""
    if source == "synthetic":
        images, labels = synthetic(samples, seed)
    else:
        images, labels = from_mnist() if source == "mnist" else from_file(source)
        images = images[:samples].reshape(-1, PIXELS).astype("float32")
        labels = labels[:samples]
        if images.max() > 1.0:
            images /= 255.0
    return images, np.eye(CLASSES, dtype="float32")[labels]


def build_model():
    """Dense 512 relu, Dropout 0.2, Dense 512 relu, Dropout 0.2, Dense 10 softmax."""
    model = Sequential()
    shape = {"input_shape": (PIXELS,)}
    if keras.__version__.startswith("3"):  # Keras 2 takes the shape with the first layer, Keras 3 before it
        model.add(keras.Input(shape=(PIXELS,)))
        shape = {}
    model.add(Dense(512, activation="relu", name="dense_1", **shape))
    model.add(Dropout(0.2, name="dropout_1"))
    model.add(Dense(512, activation="relu", name="dense_2"))
    model.add(Dropout(0.2, name="dropout_2"))
    model.add(Dense(CLASSES, activation="softmax", name="dense_3"))
    return model


def set_seeds(seed):
    """The same initial weights and the same order of the data in every run of one backend."""
    random.seed(seed)
    np.random.seed(seed)
    if hasattr(keras.utils, "set_random_seed"):
        keras.utils.set_random_seed(seed)
    elif keras.backend.backend() == "mxnet":
        import mxnet

        mxnet.random.seed(seed)


def train(model, images, labels, epochs, batch_size):
    """Train, evaluate and predict."""
    start = time.time()
    history = model.fit(images, labels, batch_size=batch_size, epochs=epochs, verbose=2)
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
    parser = argparse.ArgumentParser(description="Train or run the MNIST MLP with Keras.")
    parser.add_argument("--samples", type=int, default=8192, help="images to use (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="passes over the images (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=128, help="images per step (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of data, weights and order (default: %(default)s)")
    parser.add_argument("--mode", choices=("train", "infer"), default="train")
    parser.add_argument("--data", default="synthetic", metavar="synthetic|mnist|FILE.npz")
    parser.add_argument("--timing", action="store_true", help="print how long it took (differs from run to run)")
    args = parser.parse_args()

    set_seeds(args.seed)
    images, labels = load_data(args.data, args.samples, args.seed)
    model = build_model()
    model.compile(optimizer="rmsprop", loss="categorical_crossentropy", metrics=["accuracy"])
    if args.mode == "train":
        seconds = train(model, images, labels, args.epochs, args.batch_size)
    else:
        seconds = infer(model, images, args.epochs, args.batch_size)
    if args.timing:
        print("seconds %.3f" % seconds)


if __name__ == "__main__":
    main()
