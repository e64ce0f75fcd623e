"""An MLP with one wide layer in its middle, or with very many narrow ones side by side.

Usage:

    python tiny_layers.py --branches 200
"""

import keras
from keras.layers import Concatenate, Dense

import common
import workload


def build(args):
    """The middle layer in one piece, or in so many."""
    inputs = keras.Input(shape=(common.PIXELS,))
    below = Dense(512, activation="relu", name="dense_1")(inputs)
    if args.branches:
        pieces = [Dense(4, activation="relu", name="branch_%d" % n)(below) for n in range(args.branches)]
        middle = Concatenate(name="branches")(pieces)
    else:
        middle = Dense(512, activation="relu", name="dense_2")(below)
    model = keras.Model(inputs, Dense(10, activation="softmax", name="classes")(middle))
    workload.set_weights(model, args)
    model.compile(optimizer="rmsprop", loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    """Train for a few epochs."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--branches", type=int, default=0, metavar="N", help="make the middle layer of N pieces")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit(build(args), rows, labels, args)


if __name__ == "__main__":
    main()
