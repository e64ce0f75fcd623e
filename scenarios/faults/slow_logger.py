"""An MLP whose training can be followed on a remote server: each batch is reported, and the answer awaited.

Usage:

    python slow_logger.py --log-batches
"""

import time

from keras.callbacks import Callback

import common


class RemoteLogger(Callback):
    """Reports each batch to a server and waits for its answer; the sleep stands for the network."""

    def on_batch_end(self, batch, logs=None):
        """Send one record."""
        self.post({"batch": batch, "keys": sorted(logs or {})})

    def post(self, record):
        """A round trip of 5 ms."""
        time.sleep(0.005)
        return len(record)


def main():
    """Train, with or without the logger."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--log-batches", action="store_true", help="report each batch to the server")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args)
    common.fit(model, rows, labels, args, callbacks=[RemoteLogger()] if args.log_batches else [])


if __name__ == "__main__":
    main()
