"""An MLP on images that lie in small files, two in each; they are read once, or again for every batch.

Usage:

    python small_files.py --from-disk
"""

import os
import shutil
import tempfile

import numpy as np

import common

PER_FILE = 2


class Folder(common.Batches):
    """Batches in order, of rows that lie in memory or in files; what was read is not kept by the system either."""

    def __init__(self, folder, rows, labels, args):
        super(Folder, self).__init__()
        self.folder = folder
        self.rows = None if args.from_disk else rows
        self.labels = labels
        self.size = args.batch_size

    def __len__(self):
        return len(self.labels) // self.size

    def __getitem__(self, number):
        """The rows of one batch, and their labels."""
        part = range(number * self.size, (number + 1) * self.size)
        if self.rows is None:
            rows = np.concatenate([self.read(index) for index in part[::PER_FILE]])
        else:
            rows = self.rows[part.start : part.stop]
        return rows, self.labels[part.start : part.stop]

    def read(self, index):
        """The rows of one file, in small pieces."""
        file = os.open(path_of(self.folder, index), os.O_RDONLY)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            pieces = iter(lambda: os.read(file, 1024), b"")
            return np.frombuffer(b"".join(pieces), dtype="float32").reshape(PER_FILE, -1)
        finally:
            os.close(file)


def path_of(folder, index):
    """Where the rows from this one on lie."""
    return os.path.join(folder, "%05d.raw" % index)


def main():
    """Write the files, then train from memory or from them."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--from-disk", action="store_true", help="read the files again for every batch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    folder = tempfile.mkdtemp(prefix="images-")
    try:
        for index in range(0, len(rows), PER_FILE):
            rows[index : index + PER_FILE].tofile(path_of(folder, index))
        os.sync()
        common.fit_batches(common.mlp(args), Folder(folder, rows, labels, args), args)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
