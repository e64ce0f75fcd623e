"""An MLP with a layer that adds running sums of the features to them.

Usage:

    python running_sums.py --smooth 3
"""

import keras
from keras.layers import Layer

import common


class Smooth(Layer):
    """Sorts the features of each row and adds their running sums, so many times."""

    def __init__(self, times, **more):
        super(Smooth, self).__init__(**more)
        self.times = times

    def call(self, rows):
        """The changed rows."""
        for _ in range(self.times):
            ranked = keras.ops.sort(keras.ops.stop_gradient(rows), axis=1)
            rows = 0.9 * rows + 0.001 * keras.ops.cumsum(ranked, axis=1)
        return rows


def main():
    """Train, with the layer as often as it is asked for."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--smooth", type=int, default=0, metavar="N", help="smooth the features so many times")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    extra = [keras.layers.Dense(128, activation="relu", name="dense_3"), Smooth(args.smooth, name="smooth")]
    common.fit(common.mlp(args, *extra, width=512), rows, labels, args)


if __name__ == "__main__":
    main()
