"""An MLP in a training loop of its own that takes batches as slices, or assembles them image by image.

Usage:

    python assembled.py --pick
"""

import time

import numpy as np

import common


def slices(rows, labels, args):
    """Batches as they lie in memory."""
    for start in range(0, len(rows) - args.batch_size + 1, args.batch_size):
        part = slice(start, start + args.batch_size)
        yield rows[part], labels[part]


def picked(rows, labels, args):
    """The same number of batches, of images that are the brightest of three neighbours."""
    for start in range(0, len(rows) - args.batch_size + 1, args.batch_size):
        chosen = []
        for place in range(start, start + args.batch_size):
            trio = [(place + away) % len(rows) for away in (0, 1, 2)]
            chosen.append(max(trio, key=lambda index: sum(rows[index].tolist())))
        yield np.array([rows[index] for index in chosen]), np.array([labels[index] for index in chosen])


def main():
    """Train batch by batch."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--pick", action="store_true", help="prefer bright images")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    start, losses = time.time(), []
    for _ in range(args.epochs):
        for part, wanted in (picked if args.pick else slices)(rows, labels, args):
            loss = model.train_on_batch(part, wanted)[0]
        losses.append(float(loss))
    common.finish(start, losses, args)


if __name__ == "__main__":
    main()
