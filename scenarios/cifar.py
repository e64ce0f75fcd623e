"""The CNNs on CIFAR-10 of two published comparisons.

`--variant rosetta` is the one that was run on a dozen frameworks (DeepLearningFrameworks, 2017): four convolutions
of 50 and 100 channels, SGD with momentum. `--variant benchmarks` is that of the benchmarks of Keras' backends (2018):
32 and 64 channels, RMSprop. Usage:

    python cifar.py --samples 1024 --epochs 1
    python cifar.py --variant benchmarks --batch-size 32
    python cifar.py --data cifar10        # downloads CIFAR-10 on first use
"""

from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from keras.models import Sequential

import workload

SHAPE = (32, 32, 3)


def build_model(args):
    """Twice two convolutions, MaxPool 2 and Dropout 0.25; Dense 512 relu, Dropout 0.5, Dense 10 softmax."""
    rosetta = args.variant == "rosetta"
    model = Sequential()
    first = workload.start(model, SHAPE)
    for block, channels in enumerate((50, 100) if rosetta else (32, 64), 1):
        model.add(Conv2D(channels, (3, 3), padding="same", activation="relu", name="conv_%d_1" % block, **first))
        padding = "same" if rosetta else "valid"
        model.add(Conv2D(channels, (3, 3), padding=padding, activation="relu", name="conv_%d_2" % block))
        model.add(MaxPooling2D((2, 2), name="pool_%d" % block))
        model.add(workload.dropout(0.25, args, name="dropout_%d" % block))
        first = {}
    model.add(Flatten(name="flatten"))
    model.add(Dense(512, activation="relu", name="dense_1"))
    model.add(workload.dropout(0.5, args, name="dropout_3"))
    model.add(Dense(10, activation="softmax", name="dense_2"))
    workload.set_weights(model, args)
    optimizer = workload.optimizer("SGD", 0.01, momentum=0.9) if rosetta else workload.optimizer("RMSprop", 1e-4)
    model.compile(optimizer=optimizer, loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    parser = workload.arguments("Train or run a CNN on CIFAR-10 with Keras.", 1024, 2, 64)
    parser.add_argument("--variant", choices=("rosetta", "benchmarks"), default="rosetta")
    args = workload.parse(parser)
    workload.set_seeds(args.seed)
    rows, labels = workload.images(args.data, "cifar10", args.samples, SHAPE, args.seed)
    model = build_model(args)
    workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
