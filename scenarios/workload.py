"""What the scenarios have in common: arguments, data, seeds, initial weights, training and inference loops.

The same seed gives the same data, the same initial weights and the same order of the data on every backend, so
that backends can be compared: weights are drawn here, not by the framework, and `fit` does not shuffle.
"""

import argparse
import os
import random
import sys
import time
import zipfile

import numpy as np

import keras


def arguments(description, samples, epochs, batch_size, mode="train"):
    """The parser of the arguments that all scenarios have.

    The arguments after the description are defaults.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mode", choices=("train", "infer"), default=mode, help="(default: %(default)s)")
    parser.add_argument("--samples", type=positive, default=samples, help="rows of data (default: %(default)s)")
    parser.add_argument("--epochs", type=positive, default=epochs, help="passes over them (default: %(default)s)")
    parser.add_argument("--batch-size", type=positive, default=batch_size, help="rows per step (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of data, weights and order (default: %(default)s)")
    parser.add_argument(
        "--data", default="synthetic", metavar="synthetic|NAME|FILE.npz", help="arrays x_train, y_train"
    )
    parser.add_argument("--weights", metavar="FILE.npz", help="initial weights: read, or written where there are none")
    parser.add_argument("--no-dropout", action="store_true", help="for losses that can be compared between backends")
    parser.add_argument("--timing", action="store_true", help="print how long it took (differs from run to run)")
    return parser


def parse(parser):
    """The arguments; a mode that the backend does not have is refused before any work is done."""
    args = parser.parse_args()
    if args.mode == "train" and backend() == "openvino":
        parser.error("Keras on OpenVINO cannot train: use --mode infer")
    return args


def positive(text):
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("%s is not a whole number of at least 1" % text)
    return number


def keras_major():
    """2 or 3: they differ in how a model is told its input."""
    return int(keras.__version__.split(".")[0])


def backend():
    """Name of the backend of Keras."""
    return keras.backend.backend()


def set_seeds(seed):
    """The same random numbers in every run of one backend; those of dropout differ between backends."""
    random.seed(seed)
    np.random.seed(seed)
    if hasattr(keras.utils, "set_random_seed"):
        keras.utils.set_random_seed(seed)
    elif backend() == "mxnet":
        import mxnet

        mxnet.random.seed(seed)
    elif backend() == "tensorflow":
        import tensorflow as tf

        tf.compat.v1.set_random_seed(seed)


def from_file(path, shape, classes):
    """Rows and labels of an .npz file with the arrays of Keras' own data sets.

    Args:
        path: The file; pickled arrays are refused, because reading them could run anything.
        shape: Shape of a row.
        classes: Number of classes.

    Raises:
        SystemExit: The file is missing, or not what it should be; the text says what is wrong.
    """
    if not os.path.isfile(path):
        sys.exit("error: there is no file %s" % path)
    if not zipfile.is_zipfile(path):
        sys.exit("error: %s: not an .npz file of plain arrays" % path)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            rows, labels = arrays["x_train"], arrays["y_train"]
    except KeyError as error:
        sys.exit("error: %s: %s (wanted: x_train, y_train)" % (path, error.args[0]))
    except (ValueError, OSError, AttributeError, TypeError) as error:
        text = "pickled data is not read" if "pickle" in str(error) else "not an .npz file of plain arrays"
        sys.exit("error: %s: %s" % (path, text))
    size = int(np.prod(shape))
    if len(rows) != len(labels) or not len(rows) or int(np.prod(rows.shape[1:])) != size:
        sys.exit("error: %s: x_train is %s and y_train %s; wanted rows of %s, and a label for each"
                 % (path, rows.shape, labels.shape, shape))  # fmt: skip
    labels = np.asarray(labels).reshape(len(rows), -1)[:, 0]
    if not np.issubdtype(labels.dtype, np.integer) or labels.min() < 0 or labels.max() >= classes:
        sys.exit("error: %s: y_train must be whole numbers from 0 to %d" % (path, classes - 1))
    if np.issubdtype(rows.dtype, np.floating) and not np.isfinite(rows).all():
        sys.exit("error: %s: x_train has values that are not finite" % path)
    return rows.reshape((-1, *tuple(shape))), labels


def images(source, loader, samples, shape, seed):
    """Images in [0, 1] and labels as one-hot rows of ten classes.

    Args:
        source: `synthetic`, the name of the loader, or a file.
        loader: Name of a module of `keras.datasets`, for example `mnist`.
        samples: Rows to use at most.
        shape: Height, width and colours.
        seed: Of the synthetic images: noisy patterns, one per class, the same on every machine.
    """
    if source == "synthetic":
        rng = np.random.RandomState(seed)
        labels = rng.randint(0, 10, samples)
        patterns = rng.rand(10, *shape)
        rows = 0.35 * patterns[labels] + 0.65 * rng.rand(samples, *shape)
    elif source == loader:
        module = __import__("keras.datasets." + loader, fromlist=["load_data"])
        (rows, labels), _ = module.load_data()
        rows = rows.reshape((-1, *tuple(shape)))
        labels = labels.reshape(-1)
    else:
        rows, labels = from_file(source, shape, 10)
    rows = rows[:samples].astype("float32")
    if rows.max() > 1.0:
        rows /= 255.0
    return rows, one_hot(labels[:samples], 10)


def one_hot(labels, classes):
    """Labels as rows with a single 1."""
    return np.eye(classes, dtype="float32")[np.asarray(labels)]


def optimizer(name, learning_rate, **more):
    """An optimizer of Keras 2 or 3: they name the learning rate differently."""
    key = "learning_rate" if keras_major() >= 3 or keras.__version__ >= "2.3" else "lr"
    return getattr(keras.optimizers, name)(**dict(more, **{key: learning_rate}))


def dropout(rate, args, **more):
    """Dropout at this rate, or one that drops nothing: almost 0, because keras-mxnet cannot do 0."""
    return keras.layers.Dropout(1e-9 if args.no_dropout else rate, **more)


def start(model, shape, **more):
    """Tell a Sequential its input, where Keras wants that as a layer; what its first layer must be given else."""
    if keras_major() >= 3:
        model.add(keras.Input(shape=shape, **more))
        return {}
    return {"input_shape": shape}


def set_weights(model, args):
    """Give a model the initial weights that belong to the seed, the same on every backend.

    Matrices and kernels are drawn as Glorot and Bengio have it; what a layer begins with as constants, biases
    and scales, stays.
    """
    if args.weights and os.path.isfile(args.weights):
        with np.load(args.weights, allow_pickle=False) as arrays:
            weights = [arrays["%03d" % number] for number in range(len(arrays.files))]
        wanted = [array.shape for array in model.get_weights()]
        if [array.shape for array in weights] != wanted:
            sys.exit("error: %s holds the weights of another model" % args.weights)
        _give(model, weights)
        return
    rng = np.random.RandomState(args.seed)
    weights = [drawn(array, rng) for array in model.get_weights()]
    _give(model, weights)
    if args.weights:
        np.savez(args.weights, **{"%03d" % number: array for number, array in enumerate(weights)})


def _give(model, weights):
    """Set weights; Theano turns kernels of convolutions around, all others do not."""
    if backend() == "theano":
        weights = [array[::-1, ::-1] if array.ndim == 4 else array for array in weights]
    model.set_weights(weights)


def drawn(array, rng):
    """Random numbers in place of random numbers; constants stay."""
    if array.ndim < 2 or array.min() == array.max():
        return array
    field = np.prod(array.shape[:-2]) if array.ndim > 2 else 1
    limit = np.sqrt(6.0 / (field * (array.shape[-2] + array.shape[-1])))
    return rng.uniform(-limit, limit, array.shape).astype(array.dtype)


def train(model, rows, labels, args, callbacks=()):
    """Train and evaluate; the losses are printed, with --timing also the seconds."""
    start_ = time.time()
    history = model.fit(
        rows,
        labels,
        batch_size=args.batch_size,
        epochs=args.epochs,
        shuffle=False,
        verbose=0,
        callbacks=list(callbacks),
    )
    seconds = time.time() - start_
    for epoch, value in enumerate(history.history["loss"]):
        print("epoch %d loss %.6f" % (epoch + 1, value))
    loss, accuracy = model.evaluate(rows, labels, batch_size=args.batch_size, verbose=0)[:2]
    print("final loss %.6f accuracy %.4f" % (loss, accuracy))
    if args.timing:
        print("seconds %.3f" % seconds)


def infer(model, rows, args):
    """Predict all rows `epochs` times, after one batch that warms up."""
    model.predict(rows[: args.batch_size], batch_size=args.batch_size, verbose=0)
    start_ = time.time()
    for _ in range(args.epochs):
        found = model.predict(rows, batch_size=args.batch_size, verbose=0)
    seconds = time.time() - start_
    print("predicted %d rows of %s, sum %.4f" % (len(found), found.shape[1:], float(found.sum())))
    if args.timing:
        print("seconds %.3f" % seconds)


def run(model, rows, labels, args):
    """Train the model, or let it predict."""
    if args.mode == "train":
        train(model, rows, labels, args)
    else:
        infer(model, rows, args)
