"""A training that takes larger and larger batches until there is no memory left.

python filled.py --more MEGABYTES      sets RLIMIT_AS that far above what is mapped after the first epoch
"""

import argparse
import resource

import keras
import numpy as np


def main():
    """Fit with batches that double."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more", type=int, default=0, help="megabytes above what is mapped; 0: no limit of its own")
    parser.add_argument(
        "--once", action="store_true", help="one batch, and what is mapped then (kB): nothing is filled"
    )
    args = parser.parse_args()
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Dense(2048, activation="relu", input_shape=(64,)),
            layers.Dense(2048, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer="sgd", loss="mse")
    batch = 256
    while True:
        x, y = np.zeros((batch, 64), "float32"), np.zeros((batch, 1), "float32")
        model.fit(x, y, batch_size=batch, epochs=1, verbose=0)  # FILLS
        if args.once:
            print(mapped() // 1024)
            return
        if args.more:
            limit = mapped() + args.more * 1_000_000
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            args.more = 0
        batch *= 2


def mapped():
    """Bytes of address space."""
    with open("/proc/self/statm") as told:
        return int(told.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    main()
