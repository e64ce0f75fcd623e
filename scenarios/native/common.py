"""What the scenarios without Keras have in common: marks, loops, figures that are printed.

Each framework has its model and its step in files of its own; only the walk over epochs and batches is here, and says
what it does by marks, which do nothing without dlprof.
"""

import os
import sys
import time

import numpy as np

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import inputs

try:
    from dlprof_probes import mark
except ImportError:  # dlprof is not there: nobody asks for marks

    class _Mark(object):
        def phase(self, *_, **__):
            return self

        epoch = step = phase

        def steps(self, batches):
            return batches

        def metrics(self, **_):
            pass

        model = metrics

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    mark = _Mark()

__all__ = ["arguments", "inputs", "mark", "run"]


class Workload(object):
    """One of the scenarios: how large it is, its data, and the shapes of its weights.

    Attributes:
        rows, labels: The data; labels are one-hot.
        weights: Initial weights, in the order of Keras.
    """

    def __init__(self, args, rows, labels, shapes):
        self.args = args
        self.rows, self.labels = rows, labels
        self.weights = inputs.weights(shapes, args)


def mlp():
    """The MNIST MLP: 784-512-512-10."""
    args = arguments("Train or run the MNIST MLP without Keras.", 8192, 3, 128)
    rows, labels = images(args, (28, 28, 1))
    shapes = [(784, 512), (512,), (512, 512), (512,), (512, 10), (10,)]
    return Workload(args, rows.reshape(-1, 784), labels, shapes)


def cnn():
    """The MNIST CNN: Conv 32, Conv 64, MaxPool 2, Dense 128, Dense 10."""
    args = arguments("Train or run the MNIST CNN without Keras.", 2048, 2, 128)
    rows, labels = images(args, (28, 28, 1))
    shapes = [(3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (9216, 128), (128,), (128, 10), (10,)]
    return Workload(args, rows, labels, shapes)


def lenet():
    """LeNet: Conv 6 5x5, Conv 16 5x5, each with AveragePool 2, then 120, 84 and 10."""
    args = arguments("Latency or training of LeNet without Keras.", 200, 1, 1, mode="infer")
    rows, labels = images(args, (28, 28, 1))
    shapes = [(5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,), (400, 120), (120,), (120, 84), (84,), (84, 10), (10,)]
    return Workload(args, rows, labels, shapes)


def lstm():
    """Film reviews: an embedding, an LSTM, Dense 2. The forget gate, second of four, begins with a bias of 1."""
    parser = inputs.arguments("Train or run an LSTM on film reviews without Keras.", 1024, 2, 64)
    parser.add_argument("--tokens", type=inputs.positive, default=150, help="length of a review (default: %(default)s)")
    parser.add_argument("--words", type=inputs.positive, default=30000, help="vocabulary (default: %(default)s)")
    parser.add_argument("--embedding", type=inputs.positive, default=125, help="(default: %(default)s)")
    parser.add_argument("--units", type=inputs.positive, default=100, help="of the cell (default: %(default)s)")
    args = parser.parse_args()
    with mark.phase("data"):
        rows, labels = inputs.reviews(args)
    units = args.units
    shapes = [(args.words, args.embedding), (args.embedding, 4 * units), (units, 4 * units), (4 * units,),
              (units, 2), (2,)]  # fmt: skip
    workload = Workload(args, rows, labels, shapes)
    workload.weights[3][units : 2 * units] = 1.0
    return workload


def arguments(*defaults, **more):
    """The arguments that all scenarios have."""
    return inputs.arguments(*defaults, **more).parse_args()


def images(args, shape):
    """Images and labels, marked as loading of data."""
    with mark.phase("data"):
        return inputs.images(args.data, "mnist", args.samples, shape, args.seed)


def channels_first(rows):
    """Images with the colours before height and width."""
    return np.ascontiguousarray(np.transpose(rows, (0, 3, 1, 2)))


def kernel_channels_first(kernel):
    """The kernel of a convolution as (outputs, inputs, height, width)."""
    return np.ascontiguousarray(np.transpose(kernel, (3, 2, 0, 1)))


def rows_channels_first(kernel, shape):
    """The first dense kernel after a convolution, for values that were flattened with the channels first.

    Args:
        kernel: (height * width * channels, units), as Keras has it.
        shape: (height, width, channels).
    """
    units = kernel.shape[-1]
    return np.ascontiguousarray(kernel.reshape(tuple(shape) + (units,)).transpose(2, 0, 1, 3).reshape(-1, units))


def rate(args, dropout):
    """The rate of a dropout layer: nothing is dropped where losses are to be compared."""
    return 0.0 if args.no_dropout else dropout


def run(workload, step, test, predict, read=float):
    """Train and evaluate, or predict, and print what the scenarios with Keras print.

    Args:
        workload: `Workload`.
        step: Function from rows and labels to the loss, after a step of training; may be on its way still.
        test: Function from rows and labels to (loss, correct answers).
        predict: Function from rows to an array of NumPy.
        read: Makes a number of a loss, or of a sum of losses; waits for it.
    """
    args = workload.args
    start = time.time()
    if args.mode == "train":
        _train(workload, step, read)
        seconds = time.time() - start
        _evaluate(workload, test, read)
    elif args.batch_size == 1:
        _latency(workload, predict)
        return
    else:
        _infer(workload, predict)
        seconds = time.time() - start
    if args.timing:
        print("seconds %.3f" % seconds)


def _batches(workload):
    rows, labels, size = workload.rows, workload.labels, workload.args.batch_size
    for first in range(0, len(rows), size):
        yield rows[first : first + size], labels[first : first + size]


def _sizes(workload):
    return {"batch_size": workload.args.batch_size, "samples": len(workload.rows)}


def _train(workload, step, read):
    with mark.phase("fit", epochs=workload.args.epochs, **_sizes(workload)):
        for epoch in range(workload.args.epochs):
            with mark.epoch(epoch):
                total = None
                for rows, labels in mark.steps(_batches(workload)):
                    loss = step(rows, labels) * len(rows)
                    total = loss if total is None else total + loss
                loss = read(total) / len(workload.rows)
                mark.metrics(loss=loss)
            print("epoch %d loss %.6f" % (epoch + 1, loss))


def _evaluate(workload, test, read):
    total = correct = 0.0
    with mark.phase("evaluate", **_sizes(workload)):
        for rows, labels in mark.steps(_batches(workload)):
            loss, right = test(rows, labels)
            total, correct = total + read(loss) * len(rows), correct + read(right)
    print("final loss %.6f accuracy %.4f" % (total / len(workload.rows), correct / len(workload.rows)))


def _infer(workload, predict):
    with mark.phase("predict"):  # compiles, as far as there is anything to compile
        predict(workload.rows[: workload.args.batch_size])
    for _ in range(workload.args.epochs):
        with mark.phase("predict", **_sizes(workload)):
            found = np.concatenate([predict(rows) for rows, _ in mark.steps(_batches(workload))])
    print("predicted %d rows of %s, sum %.4f" % (len(found), found.shape[1:], float(found.sum())))


def _latency(workload, predict):
    """Image after image; the first one, which compiles, is told apart."""
    seconds, total = [], 0.0
    for _ in range(workload.args.epochs):
        with mark.phase("predict", **_sizes(workload)):
            for rows, _ in mark.steps(_batches(workload)):
                start = time.time()
                total += float(predict(rows).sum())
                seconds.append(time.time() - start)
    print("predicted %d images one by one, sum %.4f" % (len(seconds), total))
    if workload.args.timing:
        rest = seconds[1:] or seconds
        print("first %.3f ms, then median %.3f ms, 95 %% %.3f ms"
              % (1e3 * seconds[0], 1e3 * np.median(rest), 1e3 * np.percentile(rest, 95)))  # fmt: skip
