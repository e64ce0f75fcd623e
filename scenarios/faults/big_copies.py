"""An MLP on batches that are prepared in a scratch buffer.

Usage:

    python big_copies.py --scratch 400
"""

import mmap

import numpy as np

import common


class Prepared(common.Batches):
    """Batches in order; each is made in a new scratch buffer of so many MB, which is freed afterwards."""

    def __init__(self, rows, labels, args):
        super(Prepared, self).__init__()
        self.rows = rows
        self.labels = labels
        self.size = args.batch_size
        self.scratch = args.scratch << 20

    def __len__(self):
        return len(self.rows) // self.size

    def __getitem__(self, number):
        """The rows of one batch, and their labels."""
        part = slice(number * self.size, (number + 1) * self.size)
        rows = self.rows[part]
        if self.scratch:
            rows = self.prepared(rows)
        return rows, self.labels[part]

    def prepared(self, rows):
        """The rows, out of a buffer that is cleared first."""
        with mmap.mmap(-1, self.scratch) as buffer:
            whole = np.frombuffer(buffer, dtype="float32")
            whole[:] = 0.0
            whole[: rows.size] = rows.ravel()
            found = whole[: rows.size].reshape(rows.shape).copy()
            del whole
        return found


def main():
    """Train, with or without scratch buffers."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--scratch", type=int, default=0, metavar="MB", help="prepare batches in a buffer of so many MB"
    )
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit_batches(common.mlp(args), Prepared(rows, labels, args), args)


if __name__ == "__main__":
    main()
