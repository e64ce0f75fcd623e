"""An MLP on images that are normalised before, with NumPy or in Python.

Usage:

    python preprocessed.py --exact
"""

import numpy as np

import common


def normalised(rows):
    """Rows with mean 0 and deviation 1."""
    return (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)


def normalised_exactly(rows):
    """The same in double precision, pixel by pixel."""
    found = []
    for row in rows.tolist():
        mean = sum(row) / len(row)
        deviation = (sum((pixel - mean) ** 2 for pixel in row) / len(row)) ** 0.5
        found.append([(pixel - mean) / deviation for pixel in row])
    return np.array(found, dtype="float32")


def main():
    """Normalise, then train."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--exact", action="store_true", help="normalise in double precision")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    rows = normalised_exactly(rows) if args.exact else normalised(rows)
    common.fit(common.mlp(args), rows, labels, args)


if __name__ == "__main__":
    main()
