"""An MLP in Keras 3 on JAX, its batches spread by `keras.distribution.DataParallel` over virtual devices of one process."""

import argparse
import itertools
import os
import statistics
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--devices", type=int, default=4)
parser.add_argument("--times", action="store_true")
args = parser.parse_args()
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=%d" % args.devices
os.environ["KERAS_BACKEND"] = "jax"

import keras  # noqa: E402
import numpy as np  # noqa: E402


class Told(keras.callbacks.Callback):
    moments: list = []

    def on_train_batch_end(self, batch, logs=None):
        print("step %d mean loss so far %r" % (batch + 1, float(logs["loss"])))
        self.moments.append(time.perf_counter())


def main():
    devices = keras.distribution.list_devices()
    print("%d devices" % len(devices))
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices))
    keras.utils.set_random_seed(1)
    layers = [keras.layers.Dense(512, activation="relu"), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((784,)), *layers])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    random = np.random.RandomState(2)
    rows, labels = random.rand(64 * args.steps, 784).astype("float32"), random.randint(0, 10, 64 * args.steps)
    model.fit(rows, labels, batch_size=64, epochs=1, verbose=0, callbacks=[Told()])
    if args.times:
        moments = Told.moments[10:]
        print("STEP_MS %.4f" % (1e3 * statistics.median(b - a for a, b in itertools.pairwise(moments))))


main()
