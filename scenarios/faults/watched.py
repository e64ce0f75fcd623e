"""An MLP whose largest weights are written down after each batch.

Usage:

    python watched.py --watch
"""

import numpy as np

from keras.callbacks import Callback

import common


class Watch(Callback):
    """Fetches all weights after each batch and notes the largest."""

    def __init__(self):
        super(Watch, self).__init__()
        self.largest = []

    def on_batch_end(self, batch, logs=None):
        """One entry for each layer."""
        self.largest.append([float(np.max(array)) for array in self.model.get_weights()])


def main():
    """Train, with or without looking at the weights."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--watch", action="store_true", help="write down the largest weights after each batch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    watch = Watch()
    common.fit(common.mlp(args, width=512), rows, labels, args, callbacks=[watch] if args.watch else [])
    print("watched %d batches" % len(watch.largest))


if __name__ == "__main__":
    main()
