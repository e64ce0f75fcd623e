"""An MLP with a log of what it does that survives a power cut.

Usage:

    python durable_log.py --log-lines 20
"""

import os
import tempfile

from keras.callbacks import Callback

import common


class DurableLog(Callback):
    """Writes lines to a file at the end of each batch; each line is on the disk before the next is written."""

    def __init__(self, path, lines):
        super(DurableLog, self).__init__()
        self.path = path
        self.lines = lines

    def on_batch_end(self, batch, logs=None):
        """Some lines, one by one."""
        for part in range(self.lines):
            self.write("batch %d part %d %s\n" % (batch, part, "." * 200))

    def write(self, line):
        """Append a line and wait for the disk."""
        with open(self.path, "a") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def main():
    """Train, with or without the log."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--log-lines", type=int, metavar="N", help="log so many lines after each batch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    file, path = tempfile.mkstemp(prefix="log-")
    os.close(file)
    try:
        common.fit(model, rows, labels, args, callbacks=[DurableLog(path, args.log_lines)] if args.log_lines else [])
    finally:
        os.remove(path)


if __name__ == "__main__":
    main()
