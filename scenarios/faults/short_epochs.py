"""An MLP that is trained in many short epochs from a tf.data pipeline.

Usage:

    python short_epochs.py --tuned
"""

import common
import tensorflow as tf


def main():
    """Train from a pipeline that is left as it is, or that TensorFlow tunes while it runs."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--tuned", action="store_true", help="have TensorFlow tune the pipeline (its default)")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    options = tf.data.Options()
    options.autotune.enabled = args.tuned
    batches = tf.data.Dataset.from_tensor_slices((rows, labels)).batch(args.batch_size).with_options(options)
    common.fit_batches(common.mlp(args), batches, args)


if __name__ == "__main__":
    main()
