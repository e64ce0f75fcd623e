"""An LSTM over the lines of an image, as a loop or unrolled.

Usage:

    python unrolled.py --unroll
"""

import keras
from keras.layers import LSTM, Reshape

import common
import workload


def main():
    """Train for a few steps."""
    parser = common.arguments(__doc__.split("\n", 1)[0], 4096, 4)
    parser.add_argument("--unroll", action="store_true", help="unroll the loop, which makes a step faster")
    args = common.parse(parser)
    images, labels = common.pictures(args)
    model = keras.models.Sequential()
    workload.start(model, common.SHAPE)
    model.add(Reshape((28, 28), name="lines"))
    model.add(LSTM(64, unroll=args.unroll, name="lstm"))
    common.fit(common.finished(model, args), images, labels, args)


if __name__ == "__main__":
    main()
