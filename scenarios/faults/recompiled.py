"""An MLP whose learning rate falls after each epoch.

Usage:

    python recompiled.py --compile-again
"""

import time

import keras

import common
import workload


def compile_model(model, rate):
    """Compile with this learning rate."""
    optimizer = workload.optimizer("RMSprop", rate)
    model.compile(optimizer=optimizer, loss="categorical_crossentropy", metrics=["accuracy"])


def main():
    """Train epoch by epoch; the rate is set by a callback, or by compiling the model again."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--compile-again", action="store_true", help="compile again for each learning rate")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    rates = [0.001 * 0.97**epoch for epoch in range(args.epochs)]
    start, losses = time.time(), []
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: rates[epoch])
    for epoch, rate in enumerate(rates):
        if args.compile_again:
            compile_model(model, rate)
        history = model.fit(rows, labels, batch_size=args.batch_size, initial_epoch=epoch, epochs=epoch + 1,
                            shuffle=False, verbose=0, callbacks=[] if args.compile_again else [schedule])  # fmt: skip
        losses.extend(history.history["loss"])
    common.finish(start, losses, args)


if __name__ == "__main__":
    main()
