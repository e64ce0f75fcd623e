"""A training loop that leaks: a small model of Keras, on any backend, and one of ten ways to keep too much.

python leaky.py --leak list --steps 1500          KEEP lines are to blame; --leak none is the clean run
"""

import argparse
import gc
import queue
import threading

import keras
import numpy as np

KIBI = 1024


def main():
    """Train, and keep what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leak", default="none", choices=["none", *LEAKS])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--kilobytes", type=int, default=256, help="what is kept of each step")
    args = parser.parse_args()
    model = made()
    model.compile(optimizer="sgd", loss="mse")
    x, y = np.ones((64, 256), "float32"), np.zeros((64, 1), "float32")
    keep = LEAKS.get(args.leak, lambda: None)()
    for step in range(args.steps):
        loss = model.train_on_batch(x, y)
        if keep is not None:
            keep(step, np.full(args.kilobytes * KIBI // 4, float(np.mean(loss)), "float32"))
    print("%s: %d steps" % (args.leak, args.steps))


def made():
    """A model whose step takes some milliseconds."""
    layers = keras.layers
    return keras.models.Sequential(
        [
            layers.Dense(1024, activation="relu", input_shape=(256,)),
            layers.Dense(1024, activation="relu"),
            layers.Dense(1),
        ]
    )


def into_a_list():
    """Outputs of each step."""
    kept = []

    def keep(step, array):
        kept.append(array)  # KEEP list

    return keep


def into_a_dict():
    """A cache without an end, by step."""
    cache = {}

    def keep(step, array):
        cache[step] = array  # KEEP dict

    return keep


def into_a_log():
    """An array that is made longer."""
    log = [np.zeros(0, "float32")]

    def keep(step, array):
        log[0] = np.concatenate([log[0], array])  # KEEP log

    return keep


def into_a_queue():
    """A queue that nobody takes from."""
    waiting = queue.Queue()

    def keep(step, array):
        waiting.put(array)  # KEEP queue

    return keep


def into_a_class():
    """An attribute of a class, as a logger or a tracker has it."""

    class Tracker(object):
        seen = []

    def keep(step, array):
        Tracker.seen.append(array)  # KEEP class

    return keep


def into_closures():
    """Functions that hold what they were made with."""
    callbacks = []

    def keep(step, array):
        callbacks.append(lambda: array.sum())  # KEEP closures

    return keep


def into_default_dict():
    """Metrics by name, with their arrays."""
    metrics = {}

    def keep(step, array):
        metrics.setdefault("outputs", []).append(array)  # KEEP metrics

    return keep


def into_threads():
    """A thread for each step that waits for ever with its array."""
    stop = threading.Event()
    alive = []

    def keep(step, array):
        thread = threading.Thread(target=lambda held: stop.wait(), args=(array,), daemon=True)
        thread.start()
        alive.append(thread)  # KEEP threads

    return keep


def into_cycles():
    """Objects that hold themselves, while nobody collects them."""
    gc.disable()

    class Node(object):
        pass

    def keep(step, array):
        node = Node()
        node.array = array
        node.itself = node  # KEEP cycles

    return keep


def into_models():
    """A copy of the weights after each step."""
    versions = []

    def keep(step, array):
        versions.extend([array.copy(), array])  # KEEP versions

    return keep


LEAKS = {
    "list": into_a_list,
    "dict": into_a_dict,
    "log": into_a_log,
    "queue": into_a_queue,
    "class": into_a_class,
    "closures": into_closures,
    "metrics": into_default_dict,
    "threads": into_threads,
    "cycles": into_cycles,
    "versions": into_models,
}

if __name__ == "__main__":
    main()
