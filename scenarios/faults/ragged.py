"""An MLP in a training loop of its own, with batches of one size or of as many rows as there happen to be.

Usage:

    python ragged.py --ragged 40
"""

import random
import time

import common


def sizes(args, steps):
    """How many rows each batch has: always the same, or one of so many sizes below."""
    if not args.ragged:
        return [args.batch_size] * steps
    rng = random.Random(args.seed)
    return [args.batch_size - rng.randrange(args.ragged) for _ in range(steps)]


def main():
    """Train batch by batch."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--ragged", type=int, default=0, metavar="N", help="batches of N different sizes")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    start, losses, at = time.time(), [], 0
    for size in sizes(args, args.epochs * (len(rows) // args.batch_size)):
        if at + size > len(rows):
            at = 0
        losses.append(float(model.train_on_batch(rows[at : at + size], labels[at : at + size])[0]))
        at += size
    common.finish(start, losses[:: len(losses) // args.epochs], args)


if __name__ == "__main__":
    main()
