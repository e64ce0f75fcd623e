"""An MLP on images in one big file, which is read once, or again from the disk for every batch.

Usage:

    python big_file.py --reread
"""

import os
import tempfile

import numpy as np

import common

ROW = 4 * common.PIXELS


def batches(path, rows, labels, args):
    """Batches for ever, from memory or from the file."""
    while True:
        for start in range(0, len(labels) - args.batch_size + 1, args.batch_size):
            part = slice(start, start + args.batch_size)
            yield load(path, start, args) if args.reread else rows[part], labels[part]


def load(path, start, args):
    """Rows from the file, wherever they may lie in it: all is read up to their end, in pieces of 4 KiB."""
    wanted = (start + args.batch_size) * ROW
    with open(path, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        held = bytearray()
        while len(held) < wanted:
            held += file.read(4096)
    return np.frombuffer(bytes(held[start * ROW : wanted]), dtype="float32").reshape(-1, common.PIXELS)


def main():
    """Write the file, then train from memory or from it."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--reread", action="store_true", help="read the file again for every batch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    file, path = tempfile.mkstemp(prefix="images-")
    try:
        os.write(file, rows.tobytes())
        os.fsync(file)
        os.close(file)
        common.fit_batches(common.mlp(args), batches(path, rows, labels, args), args, len(rows) // args.batch_size)
    finally:
        os.remove(path)


if __name__ == "__main__":
    main()
