"""What the scripts of this folder have in common: arguments, data, two small models, and a call of `fit`.

Each script trains well without its option, and badly with it.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import keras
from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from keras.models import Sequential

import workload

PIXELS = 784
SHAPE = (28, 28, 1)

# Batches by number: Keras 3 and Keras 2 name the class differently.
Batches = getattr(keras.utils, "PyDataset", None) or keras.utils.Sequence


def arguments(description, samples=8192, epochs=12, batch_size=128):
    """The parser of the arguments that all scenarios have; a script adds its own."""
    return workload.arguments(description, samples, epochs, batch_size)


def parse(parser):
    """The arguments, and the same random numbers in every run."""
    args = workload.parse(parser)
    workload.set_seeds(args.seed)
    return args


def digits(args):
    """Images as rows of 784 floats, and labels as one-hot rows."""
    images, labels = pictures(args)
    return images.reshape(-1, PIXELS), labels


def pictures(args):
    """Images of 28 x 28 x 1, and labels as one-hot rows."""
    return workload.images(args.data, "mnist", args.samples, SHAPE, args.seed)


def mlp(args, *extra, width=256, **compiling):
    """A compiled MLP 784-width-width-10; extra layers come before its last."""
    model = Sequential()
    first = workload.start(model, (PIXELS,))
    model.add(Dense(width, activation="relu", name="dense_1", **first))
    model.add(Dense(width, activation="relu", name="dense_2"))
    return finished(model, args, extra, compiling)


def cnn(args, *extra, **compiling):
    """A compiled CNN of two convolutions and two dense layers; extra layers come before its last."""
    model = Sequential()
    first = workload.start(model, SHAPE)
    model.add(Conv2D(16, (3, 3), activation="relu", name="conv_1", **first))
    model.add(Conv2D(32, (3, 3), activation="relu", name="conv_2"))
    model.add(MaxPooling2D((2, 2), name="pool_1"))
    model.add(Flatten(name="flatten"))
    model.add(Dense(64, activation="relu", name="dense_1"))
    return finished(model, args, extra, compiling)


def finished(model, args, extra=(), compiling=None):
    """Add the last layers, give weights that belong to the seed, and compile."""
    for layer in extra:
        model.add(layer)
    model.add(Dense(10, activation="softmax", name="classes"))
    workload.set_weights(model, args)
    # Not RMSprop: what it keeps of a dead unit shrinks for ever, into numbers that are slow on some CPUs. And
    # keras-mxnet's Adagrad diverges.
    name, rate = ("Adagrad", 0.01) if workload.keras_major() >= 3 else ("SGD", 0.1)
    how = {"optimizer": workload.optimizer(name, rate), "loss": "categorical_crossentropy", "metrics": ["accuracy"]}
    model.compile(**dict(how, **(compiling or {})))
    return model


def fit(model, rows, labels, args, **more):
    """Train on arrays; see `finish` for what is printed."""
    start = time.time()
    history = model.fit(rows, labels, batch_size=args.batch_size, epochs=args.epochs, shuffle=False, verbose=0, **more)
    finish(start, history.history["loss"], args)


def fit_batches(model, batches, args, steps=None, **more):
    """Train on batches by number, or on `steps` batches of a generator an epoch."""
    if steps:
        more["steps_per_epoch"] = steps
    train = model.fit if workload.keras_major() >= 3 else model.fit_generator
    start = time.time()
    history = train(batches, epochs=args.epochs, shuffle=False, verbose=0, **more)
    finish(start, history.history["loss"], args)


def finish(start, losses, args):
    """Print the losses, with --timing also the seconds."""
    seconds = time.time() - start
    for epoch, value in enumerate(losses):
        print("epoch %d loss %.6f" % (epoch + 1, value))
    if args.timing:
        print("seconds %.3f" % seconds)
