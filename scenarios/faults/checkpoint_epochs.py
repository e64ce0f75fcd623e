"""An MLP in many short epochs, with the model kept after each of them.

Usage:

    python checkpoint_epochs.py --keep-all
"""

import os
import shutil
import tempfile

from keras.callbacks import ModelCheckpoint

import common


def main():
    """Train, with or without keeping a model for each epoch."""
    parser = common.arguments(__doc__.split("\n", 1)[0], 384, 256)
    parser.add_argument("--keep-all", action="store_true", help="keep the model of each epoch")
    args = common.parse(parser)
    rows, labels = common.digits(args)
    model = common.mlp(args, width=512)
    folder = tempfile.mkdtemp(prefix="models-")
    path = os.path.join(folder, "model-{epoch:03d}.h5")
    try:
        common.fit(model, rows, labels, args, callbacks=[ModelCheckpoint(path)] if args.keep_all else [])
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
