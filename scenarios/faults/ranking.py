"""An MLP with a metric of its own after each epoch: how often the right class outranks a wrong one.

Usage:

    python ranking.py --rank
"""

from keras.callbacks import Callback

import common


class Ranking(Callback):
    """Keeps all predictions as lists and compares them in Python, one by one."""

    def __init__(self, rows, labels):
        super(Ranking, self).__init__()
        self.rows = rows
        self.labels = labels.tolist()
        self.kept = []

    def on_epoch_end(self, epoch, logs=None):
        """Predict, keep, compare."""
        found = self.model.predict(self.rows, batch_size=512, verbose=0).tolist()
        self.kept.append(found)
        print("epoch %d ranking %.4f" % (epoch + 1, self.score(found)))

    def score(self, found):
        """The share of classes that rank as they should, over pairs of neighbours."""
        right = total = 0
        for number, (row, label) in enumerate(zip(found, self.labels)):
            for other in found[max(0, number - 60) : number + 1]:
                right += sum(1 for mine, theirs, flag in zip(row, other, label) if (mine > theirs) == (flag > 0))
                total += len(row)
        return right / float(total)


def main():
    """Train, with or without the metric."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--rank", action="store_true", help="compute the metric after each epoch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    count = min(len(rows), 4096)
    common.fit(model, rows, labels, args, callbacks=[Ranking(rows[:count], labels[:count])] if args.rank else [])


if __name__ == "__main__":
    main()
