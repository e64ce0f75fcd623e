"""An MLP of which the loss on all images is wanted as a curve with many points.

Usage:

    python evaluating.py --curve
"""

from keras.callbacks import Callback

import common


class Curve(Callback):
    """Evaluates the model on all images after each epoch."""

    def __init__(self, rows, labels):
        super(Curve, self).__init__()
        self.rows = rows
        self.labels = labels
        self.points = []

    def on_epoch_end(self, epoch, logs=None):
        """One more point."""
        self.points.append(self.model.evaluate(self.rows, self.labels, batch_size=128, verbose=0)[0])


def main():
    """Train on a part of the images in each epoch, with or without the curve."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--curve", action="store_true", help="evaluate on all images after each epoch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    part = len(rows) // 2
    model = common.mlp(args)
    callbacks = [Curve(rows, labels)] if args.curve else []
    common.fit(model, rows[:part], labels[:part], args, callbacks=callbacks)


if __name__ == "__main__":
    main()
