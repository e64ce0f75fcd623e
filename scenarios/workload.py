"""What the scenarios with Keras have in common: seeds, initial weights, training and inference loops.

Weights are drawn here, not by the framework, and `fit` does not shuffle, so that backends can be compared.
"""

import os
import random
import time

import numpy as np

import keras

from inputs import arguments, drawn, from_file, images, one_hot, positive, read_weights, write_weights

__all__ = ["arguments", "from_file", "images", "one_hot", "positive"]


def parse(parser):
    """The arguments; a mode that the backend does not have is refused before any work is done."""
    args = parser.parse_args()
    if args.mode == "train" and backend() == "openvino":
        parser.error("Keras on OpenVINO cannot train: use --mode infer")
    return args


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
        _give(model, read_weights(args.weights, [array.shape for array in model.get_weights()]))
        return
    rng = np.random.RandomState(args.seed)
    weights = [drawn(array, rng) for array in model.get_weights()]
    _give(model, weights)
    if args.weights:
        write_weights(args.weights, weights)


def _give(model, weights):
    """Set weights; Theano turns kernels of convolutions around, all others do not."""
    if backend() == "theano":
        weights = [array[::-1, ::-1] if array.ndim == 4 else array for array in weights]
    model.set_weights(weights)


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
