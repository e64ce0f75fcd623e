"""An MLP that is validated while it trains, on other images than those that it learns from.

Usage:

    python validated.py --validate 2
"""

import common


def main():
    """Train, with or without validation after each epoch."""
    parser = common.arguments(__doc__.split("\n", 1)[0], 2048, 48)
    parser.add_argument("--validate", type=int, default=0, metavar="N", help="validate on N times as many images")
    args = common.parse(parser)
    learnt = args.samples
    args.samples *= 1 + max(args.validate, 1)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    more = {}
    if args.validate:
        more["validation_data"] = (rows[learnt:], labels[learnt:])
    common.fit(model, rows[:learnt], labels[:learnt], args, **more)


if __name__ == "__main__":
    main()
