"""An MLP on batches from a generator, which takes them from memory or from a remote store.

Usage:

    python remote_store.py --remote 0.012
"""

import time

import common


def batches(rows, labels, args):
    """Batches for ever."""
    while True:
        for start in range(0, len(rows) - args.batch_size + 1, args.batch_size):
            part = slice(start, start + args.batch_size)
            yield fetch(rows[part], args), labels[part]


def fetch(part, args):
    """One batch; the sleep stands for the way to the store and back."""
    if args.remote:
        time.sleep(args.remote)
    return part.copy()


def main():
    """Train from memory or from the store."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--remote", type=float, metavar="SECONDS", help="from the remote store: time of a request")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    steps = len(rows) // args.batch_size
    common.fit_batches(common.mlp(args), batches(rows, labels, args), args, steps)


if __name__ == "__main__":
    main()
