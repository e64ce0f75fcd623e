"""An MLP in single or in double precision.

Usage:

    python double.py --precise
"""

import keras

import common


def main():
    """Train in the precision that is asked for."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--precise", action="store_true", help="compute with more digits")
    args = common.parse(parser)
    if args.precise:
        keras.backend.set_floatx("float64")
    rows, labels = common.digits(args)
    common.fit(common.mlp(args, width=1024), rows.astype(keras.backend.floatx()), labels, args)


if __name__ == "__main__":
    main()
