"""An MLP that is saved now and then while it trains.

Usage:

    python checkpoint.py --save-every 4
"""

import os
import shutil
import tempfile

from keras.callbacks import Callback, ModelCheckpoint

import common


class Weights(Callback):
    """Saves the weights alone, every few batches."""

    def __init__(self, path, every):
        super(Weights, self).__init__()
        self.path = path
        self.every = every
        self.seen = 0

    def on_batch_end(self, batch, logs=None):
        """Save the weights when it is time."""
        self.seen += 1
        if self.seen % self.every == 0:
            self.model.save_weights(self.path, overwrite=True)


def main():
    """Train; save nothing, the model every few batches, or its weights every few batches."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--save-every", type=int, metavar="BATCHES", help="save the model every so many batches")
    parser.add_argument("--weights-every", type=int, metavar="BATCHES", help="save the weights every so many batches")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args, width=512)
    folder = tempfile.mkdtemp(prefix="models-")
    callbacks = []
    if args.save_every:
        callbacks.append(ModelCheckpoint(os.path.join(folder, "model.keras"), save_freq=args.save_every))
    if args.weights_every:
        callbacks.append(Weights(os.path.join(folder, "model.weights.h5"), args.weights_every))
    try:
        common.fit(model, rows, labels, args, callbacks=callbacks)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
