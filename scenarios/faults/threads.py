"""A CNN on so many threads as one asks for, with PyTorch.

Usage:

    python threads.py --threads 1
"""

import torch

import common


def main():
    """Train, with the backend's own number of threads or another."""
    parser = common.arguments(__doc__.split("\n", 1)[0], 1024, 10)
    parser.add_argument("--threads", type=int, default=0, metavar="N", help="use so many threads")
    args = common.parse(parser)
    if args.threads:
        torch.set_num_threads(args.threads)
    images, labels = common.pictures(args)
    common.fit(common.cnn(args), images, labels, args)


if __name__ == "__main__":
    main()
