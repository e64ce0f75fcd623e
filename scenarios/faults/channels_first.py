"""A stack of convolutions whose images lie channels last, or are turned for each layer.

Usage:

    python channels_first.py --channels-first
"""

import keras
from keras.layers import Activation, Conv2D, GlobalAveragePooling2D, Permute

import common
import workload


def main():
    """Train, with activations channels last everywhere, or channels first between the convolutions."""
    parser = common.arguments(__doc__.split("\n", 1)[0], 1024, 6)
    parser.add_argument("--channels-first", action="store_true", help="keep activations channels first")
    args = common.parse(parser)
    images, labels = common.pictures(args)
    model = keras.models.Sequential()
    first = workload.start(model, common.SHAPE)
    for number in range(1, 7):
        model.add(Conv2D(32, (1, 1), name="conv_%d" % number, **first))
        first = {}
        if args.channels_first:
            model.add(Permute((3, 1, 2), name="to_first_%d" % number))
        model.add(Activation("relu", name="relu_%d" % number))
        if args.channels_first:
            model.add(Permute((2, 3, 1), name="to_last_%d" % number))
    model.add(GlobalAveragePooling2D(name="pool"))
    common.fit(common.finished(model, args), images, labels, args)


if __name__ == "__main__":
    main()
