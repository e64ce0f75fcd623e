"""A small network on a table, over many epochs: run time and cross-entropy along the way.

16 columns, two hidden layers of 30 with tanh, a softmax, RMSprop: the model with which Theano and TensorFlow
were compared under Keras over 2,000 epochs (2016). So small a model shows what a backend costs per step. Usage:

    python delays.py --samples 4096 --epochs 50 --every 10
    python delays.py --samples 126525 --epochs 2000 --every 50 --timing
    python delays.py --data delays.npz    # x_train: rows of 16 columns, y_train: class numbers
"""

import time

import numpy as np

import keras
from keras.layers import Dense
from keras.models import Sequential

import workload

COLUMNS = 16
CLASSES = 4


def load_data(args):
    """Rows of 16 columns with mean 0 and deviation 1, and one-hot labels."""
    if args.data == "synthetic":
        rng = np.random.RandomState(args.seed)
        rows = rng.randn(args.samples, COLUMNS)
        labels = np.argmax(np.tanh(rows.dot(rng.randn(COLUMNS, 8))).dot(rng.randn(8, CLASSES)), axis=1)
    else:
        rows, labels = workload.from_file(args.data, (COLUMNS,), CLASSES)
        rows, labels = rows[: args.samples].astype("float64"), labels[: args.samples]
        rows = (rows - rows.mean(axis=0)) / (rows.std(axis=0) + 1e-12)
    return rows.astype("float32"), workload.one_hot(labels, CLASSES)


def build_model(args):
    """Dense 30 tanh, Dropout 0.001, Dense 30 tanh, Dropout 0.01, Dense 4 softmax."""
    model = Sequential()
    first = workload.start(model, (COLUMNS,))
    model.add(Dense(30, activation="tanh", name="dense_1", **first))
    model.add(workload.dropout(0.001, args, name="dropout_1"))
    model.add(Dense(30, activation="tanh", name="dense_2"))
    model.add(workload.dropout(0.01, args, name="dropout_2"))
    model.add(Dense(CLASSES, activation="softmax", name="dense_3"))
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("RMSprop", 0.001), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


class Curve(keras.callbacks.Callback):
    """Cross-entropy, and with `timing` the seconds, after every so many epochs."""

    def __init__(self, every, timing):
        super(Curve, self).__init__()
        self.every, self.timing = every, timing

    def on_train_begin(self, logs=None):
        self.begin = time.time()

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            seconds = "  %.3f s" % (time.time() - self.begin) if self.timing else ""
            print("after %4d epochs: cross-entropy %.6f%s" % (epoch + 1, logs["loss"], seconds))


def main():
    parser = workload.arguments("Run time and loss of a small network on a table with Keras.", 4096, 50, 128)
    parser.add_argument("--every", type=workload.positive, default=10, help="epochs per line (default: %(default)s)")
    args = workload.parse(parser)
    workload.set_seeds(args.seed)
    rows, labels = load_data(args)
    held_out = max(1, round(0.15 * len(rows))) if len(rows) > 1 else 0
    model = build_model(args)
    if args.mode == "infer":
        workload.infer(model, rows, args)
        return
    model.fit(
        rows[held_out:], labels[held_out:], batch_size=args.batch_size, epochs=args.epochs, shuffle=False, verbose=0,
        callbacks=[Curve(args.every, args.timing)],
    )  # fmt: skip
    loss, accuracy = model.evaluate(rows[:held_out], labels[:held_out], batch_size=args.batch_size, verbose=0)[:2]
    print("held out: cross-entropy %.6f accuracy %.4f" % (loss, accuracy))


if __name__ == "__main__":
    main()
