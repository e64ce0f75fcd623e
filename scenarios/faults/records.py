"""An MLP that remembers what happened in each batch.

Usage:

    python records.py --remember 20000
"""

import gc

from keras.callbacks import Callback

import common


class Record(object):
    """One entry, which knows its neighbours and itself."""

    def __init__(self, value, before):
        self.value = value
        self.before = before
        self.after = None
        self.own = self
        if before is not None:
            before.after = self


class Memory(Callback):
    """Keeps records of all batches, and cleans up every few batches so that memory does not run out."""

    def __init__(self, count):
        super(Memory, self).__init__()
        self.last = None
        for value in range(count):
            self.last = Record([value], self.last)

    def on_batch_end(self, batch, logs=None):
        """Add a record, collect garbage."""
        self.last = Record([batch], self.last)
        if batch % 16 == 0:
            gc.collect()


def main():
    """Train, with or without records."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--remember", type=int, default=0, metavar="N", help="keep records, N from earlier runs")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    common.fit(model, rows, labels, args, callbacks=[Memory(args.remember)] if args.remember else [])


if __name__ == "__main__":
    main()
