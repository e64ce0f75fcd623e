"""An MLP with a layer that scales each row to length one; for all rows at once, or row by row.

Usage:

    python row_loop.py --row-by-row
"""

import torch
from keras.layers import Layer

import common


class Unit(Layer):
    """Scales rows."""

    def __init__(self, row_by_row, **more):
        super(Unit, self).__init__(**more)
        self.row_by_row = row_by_row

    def call(self, rows):
        """The scaled rows."""
        if self.row_by_row:
            return torch.stack([self.scaled(row) for row in rows.unbind(0)])
        return rows / (rows.norm(dim=1, keepdim=True) + 1e-6)

    def scaled(self, row):
        """One row."""
        return row / (row.norm() + 1e-6)


def main():
    """Train, with the layer in one or the other form."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--row-by-row", action="store_true", help="scale one row after the other")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    common.fit(common.mlp(args, Unit(args.row_by_row, name="unit")), rows, labels, args)


if __name__ == "__main__":
    main()
