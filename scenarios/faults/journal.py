"""An MLP that keeps a journal of its batches, best first, for a report at the end.

Usage:

    python journal.py --journal
"""

from keras.callbacks import LambdaCallback

import common

JOURNAL = {}


def note(batch, logs):
    """Add this batch to the journal, and put the journal in order."""
    for part in range(2):
        JOURNAL["%06d.%d" % (len(JOURNAL), part)] = {"batch": batch, "part": part, "keys": sorted(logs or {})}
    ranked = sorted(JOURNAL.items(), key=lambda item: (item[1]["part"], item[1]["batch"], item[0]))
    return "\n".join("%s: %s" % (key, sorted(entry.items())) for key, entry in ranked[-500:])


def main():
    """Train, with or without the journal."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--journal", action="store_true", help="keep a journal of the batches")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    common.fit(model, rows, labels, args, callbacks=[LambdaCallback(on_batch_end=note)] if args.journal else [])
    print("journal of %d" % len(JOURNAL))


if __name__ == "__main__":
    main()
