"""Arguments, data and initial weights of the scenarios, with Keras or without.

The same seed gives the same data, the same initial weights and the same order of the data on every backend, so that
backends can be compared.
"""

import argparse
import os
import sys
import zipfile

import numpy as np


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


def positive(text):
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("%s is not a whole number of at least 1" % text)
    return number


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


def reviews(args):
    """Token numbers, rows of equal length, and one-hot labels."""
    if args.data == "synthetic":
        return synthetic_reviews(args)
    if args.data == "imdb":
        from keras.datasets import imdb

        (rows, labels), _ = imdb.load_data(num_words=args.words)
        rows = np.array([padded(row, args.tokens) for row in rows[: args.samples]])
    else:
        rows, labels = from_file(args.data, (args.tokens,), 2)
        if rows.min() < 0 or rows.max() >= args.words:
            raise SystemExit("error: %s: tokens must be from 0 to %d" % (args.data, args.words - 1))
    return rows[: args.samples].astype("int32"), one_hot(labels[: args.samples], 2)


def synthetic_reviews(args):
    """Reviews in which one half of the words is more frequent in each class: learnable."""
    rng = np.random.RandomState(args.seed)
    labels = rng.randint(0, 2, args.samples)
    half = (args.words - 2) // 2
    rows = rng.randint(2, args.words, (args.samples, args.tokens))
    biased = rng.rand(args.samples, args.tokens) < 0.2
    told = rng.randint(2, 2 + half, (args.samples, args.tokens)) + labels[:, None] * half
    return np.where(biased, told, rows).astype("int32"), one_hot(labels, 2)


def padded(row, tokens):
    """The last tokens of a review, with zeros in front where it is short."""
    kept = list(row)[-tokens:]
    return [0] * (tokens - len(kept)) + kept


def drawn(array, rng):
    """Random numbers in place of random numbers; constants stay."""
    if array.ndim < 2 or array.min() == array.max():
        return array
    return glorot(array.shape, rng).astype(array.dtype)


def glorot(shape, rng):
    """A matrix or kernel as Glorot and Bengio draw it."""
    field = np.prod(shape[:-2]) if len(shape) > 2 else 1
    limit = np.sqrt(6.0 / (field * (shape[-2] + shape[-1])))
    return rng.uniform(-limit, limit, shape).astype("float32")


def weights(shapes, args):
    """Initial weights without Keras: those that Keras would be given for layers of these shapes, biases of zeros.

    Args:
        shapes: Of the weights in the order of Keras; its kernels have the inputs before the outputs.
        args: `seed`, and `weights`: a file that they are read from, or written to where there is none.
    """
    if args.weights and os.path.isfile(args.weights):
        found = read_weights(args.weights, shapes)
    else:
        rng = np.random.RandomState(args.seed)
        found = [glorot(s, rng) if len(s) > 1 else np.zeros(s, "float32") for s in shapes]
        if args.weights:
            write_weights(args.weights, found)
    return found


def read_weights(path, shapes):
    """The arrays of a file of weights, which must have these shapes."""
    with np.load(path, allow_pickle=False) as arrays:
        found = [arrays["%03d" % number] for number in range(len(arrays.files))]
    if [array.shape for array in found] != [tuple(shape) for shape in shapes]:
        sys.exit("error: %s holds the weights of another model" % path)
    return found


def write_weights(path, arrays):
    """Keep weights for another run."""
    np.savez(path, **{"%03d" % number: array for number, array in enumerate(arrays)})
