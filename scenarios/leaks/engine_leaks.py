"""Leaks in what belongs to an engine, or to Python itself: a loop that keeps more with each step, and not in a list.

python engine_leaks.py --leak graph --steps 600       KEEP lines are to blame; which leak needs which backend: README.md
"""

import argparse
import atexit
import logging
import logging.handlers
import signal

import keras
import numpy as np

KIBI = 1024


def main():
    """Run a loop that leaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leak", required=True, choices=sorted(LEAKS))
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    LEAKS[args.leak](args.steps)
    print("%s: %d steps" % (args.leak, args.steps))


def trained(steps, after):
    """Train a model of Keras, and call `after(step)` behind each step."""
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Dense(1024, activation="relu", input_shape=(256,)),
            layers.Dense(1024, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="sgd", loss="mse")
    x, y = np.ones((64, 256), "float32"), np.zeros((64, 1), "float32")
    for step in range(steps):
        model.train_on_batch(x, y)
        after(step)


def graph(steps):
    """PyTorch: a sum of losses that holds the graph of each of them."""
    import torch

    net = torch.nn.Sequential(
        torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.Linear(512, 1)
    )
    optimizer = torch.optim.SGD(net.parameters(), 0.001)
    total = 0
    for _ in range(steps):
        loss = net(torch.rand(128, 256)).square().mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
        total = total + loss  # KEEP graph
    print(float(total))


def workers(steps):
    """PyTorch: a data set that keeps what it has read, in the processes of its loader."""
    import torch

    class Rows(torch.utils.data.Dataset):
        def __init__(self):
            self.seen = {}

        def __len__(self):
            return 64 * steps

        def __getitem__(self, number):
            self.seen[number] = np.full(1024, float(number), "float32")  # KEEP workers
            return self.seen[number][:256]

    net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.001)
    for rows in torch.utils.data.DataLoader(Rows(), batch_size=64, num_workers=1):
        loss = net(rows * 1e-6).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def lambdas(steps):
    """JAX: a function that is compiled anew in each step, and kept by a table of them."""
    import jax

    weights, rows, known = np.full((256, 64), 0.01, "float32"), np.ones((32, 256), "float32"), []
    for step in range(steps):
        known.append(
            jax.jit(jax.value_and_grad(lambda w, step=step: (jax.nn.relu(rows @ w) ** 2).mean() + step))
        )  # KEEP lambdas
        _, gradient = known[-1](weights)
        weights = weights - 0.01 * gradient


def table(steps):
    """TensorFlow: a table of the engine's own that takes new keys in each step."""
    import tensorflow as tf

    values = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, tf.zeros(1024))

    def keep(step):
        keys = tf.range(64 * step, 64 * (step + 1), dtype=tf.int64)
        values.insert(keys, tf.random.uniform((64, 1024)))  # KEEP table

    trained(steps, keep)


def retraced(steps):
    """TensorFlow: a graph for each number that a function is given."""
    import tensorflow as tf

    @tf.function
    def scaled(x, by):
        for _ in range(20):
            x = tf.nn.relu(x) * by
        return x

    rows = tf.ones((8, 8))
    trained(steps, lambda step: scaled(rows, step))  # KEEP retraced


def metric(steps):
    """MXNet: a metric that holds the outputs of all steps."""
    import mxnet as mx

    class Spread(mx.metric.EvalMetric):
        def __init__(self):
            super(Spread, self).__init__("spread")
            self.outputs = []

        def reset(self):
            self.num_inst, self.sum_metric = 1, 0.0

        def update(self, labels, preds):
            self.outputs += [one.copy() for one in preds]  # KEEP metric

    spread = Spread()
    trained(steps, lambda step: spread.update([], [mx.nd.ones((256, 256))]))


def handler(steps):
    """A handler of the log that holds records, and with them their arguments."""
    log = logging.getLogger("training")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(logging.handlers.MemoryHandler(10**9, flushLevel=logging.CRITICAL + 1))

    def keep(step):
        log.info("outputs of step %d: %s", step, np.ones(64 * KIBI, "float32"))  # KEEP handler

    trained(steps, keep)


def views(steps):
    """A few values of each batch, each of which holds the whole batch."""
    heads = {}

    def keep(step):
        batch = np.ones((64, KIBI), "float32")
        heads[step] = batch[0, :8]  # KEEP views

    trained(steps, keep)


def at_exit(steps):
    """A function for the end of the process, in each step."""

    def keep(step):
        array = np.ones(64 * KIBI, "float32")
        atexit.register(lambda: array.sum())  # KEEP at_exit

    trained(steps, keep)


def handlers(steps):
    """A handler of a signal that holds the one before it, in each step."""

    def keep(step):
        array, before = np.ones(64 * KIBI, "float32"), signal.getsignal(signal.SIGUSR2)
        signal.signal(signal.SIGUSR2, lambda *_: (array, before))  # KEEP handlers

    trained(steps, keep)


LEAKS = {
    one.__name__: one for one in (graph, workers, lambdas, table, retraced, metric, handler, views, at_exit, handlers)
}

if __name__ == "__main__":
    main()
