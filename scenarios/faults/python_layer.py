"""An MLP that caps the largest activations of each image; in TensorFlow, or by a function in Python.

Usage:

    python python_layer.py --flexible
"""

import numpy as np
import tensorflow as tf
from keras.layers import Layer

import common


class Cap(Layer):
    """Caps the values of each row at their mean and twice their spread."""

    def __init__(self, flexible, **more):
        super(Cap, self).__init__(**more)
        self.flexible = flexible
        self.supports_jit = False

    def call(self, rows):
        """The capped rows."""
        if self.flexible:
            found = tf.py_function(capped, [rows], tf.float32)
            found.set_shape(rows.shape)
            return tf.stop_gradient(found)
        mean = tf.reduce_mean(rows, axis=1, keepdims=True)
        spread = tf.reduce_mean(tf.abs(rows - mean), axis=1, keepdims=True)
        return tf.stop_gradient(tf.minimum(rows, mean + 2 * spread))


def capped(rows):
    """The same for one row after the other, in Python."""
    found = []
    for row in rows.numpy():
        mean = sum(row.tolist()) / len(row)
        spread = sum(abs(value - mean) for value in row.tolist()) / len(row)
        found.append(np.minimum(row, mean + 2 * spread))
    return np.array(found, dtype="float32")


def main():
    """Train, with the layer in one or the other form."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--flexible", action="store_true", help="cap in Python, where any rule can be written")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit(common.mlp(args, Cap(args.flexible, name="cap")), rows, labels, args)


if __name__ == "__main__":
    main()
