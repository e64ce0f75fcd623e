"""An MLP on a tf.data pipeline over a generator, with or without a mapping in Python.

Usage:

    python mapped.py --equalise
"""

import numpy as np
import tensorflow as tf

import common


def equalised(images):
    """Images whose values are spread evenly, as ranks; one image after the other."""
    found = []
    for image in images:
        order = np.argsort(np.argsort(image, kind="stable"), kind="stable")
        found.append(order / float(len(image)))
    return np.array(found, dtype="float32")


def pipeline(rows, labels, args):
    """Batches of images, without prefetching."""

    def examples():
        """Blocks of images and labels."""
        for start in range(0, len(rows), 32):
            yield rows[start : start + 32], labels[start : start + 32]

    kinds = (tf.TensorSpec((None, common.PIXELS), tf.float32), tf.TensorSpec((None, 10), tf.float32))
    dataset = tf.data.Dataset.from_generator(examples, output_signature=kinds)
    if args.equalise:
        dataset = dataset.map(lambda rows, labels: (tf.numpy_function(equalised, [rows], tf.float32), labels))
        dataset = dataset.map(lambda rows, labels: (tf.ensure_shape(rows, (None, common.PIXELS)), labels))
    return dataset.unbatch().batch(args.batch_size, drop_remainder=True)


def main():
    """Train, with or without equalising the images."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--equalise", action="store_true", help="spread the values of each image evenly")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit_batches(common.mlp(args), pipeline(rows, labels, args), args)


if __name__ == "__main__":
    main()
