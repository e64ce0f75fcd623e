"""A small MLP, trained in batches of many images or of a few.

Usage:

    python batch_size.py --batch-size 8
"""

import keras
from keras.layers import Dense

import common
import workload


def main():
    """Train with the batch size that is asked for."""
    args = common.parse(common.arguments(__doc__.split("\n", 1)[0]))
    rows, labels = common.digits(args)
    model = keras.models.Sequential()
    first = workload.start(model, (common.PIXELS,))
    model.add(Dense(64, activation="relu", name="dense_1", **first))
    model.add(Dense(64, activation="relu", name="dense_2"))
    common.fit(common.finished(model, args), rows, labels, args)


if __name__ == "__main__":
    main()
