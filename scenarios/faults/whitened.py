"""An MLP with a layer that takes away what the features of a batch have in common.

Usage:

    python whitened.py --whiten
"""

import keras
from keras.layers import Layer

import common


class Whiten(Layer):
    """Projects the features on the directions in which the batch varies; optionally off: then it only centres them."""

    def __init__(self, whiten, **more):
        super(Whiten, self).__init__(**more)
        self.whiten = whiten

    def call(self, rows):
        """Centred rows, and with the option in the coordinates of their principal axes."""
        centred = rows - keras.ops.mean(rows, axis=0, keepdims=True)
        if not self.whiten:
            return centred
        fixed = keras.ops.stop_gradient(centred)
        covariance = keras.ops.matmul(keras.ops.transpose(fixed), fixed) / 128.0
        axes = keras.ops.eigh(covariance + 1e-3 * keras.ops.eye(rows.shape[1]))[1]
        return keras.ops.matmul(centred, axes)


def main():
    """Train, with the layer on or off."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--whiten", action="store_true", help="rotate the features to their principal axes")
    parser.add_argument("--features", type=int, default=128, metavar="N", help="so many features are rotated")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    extra = [keras.layers.Dense(args.features, activation="relu", name="dense_3"), Whiten(args.whiten, name="whiten")]
    common.fit(common.mlp(args, *extra, width=512), rows, labels, args)


if __name__ == "__main__":
    main()
