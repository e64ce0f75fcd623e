"""An MLP on batches that are made one by one, with or without augmentation of each image.

Usage:

    python augmented.py --augment
"""

import numpy as np

import common


class Images(common.Batches):
    """Batches in order; with augmentation each image is shifted, mixed with its mirror image, and made noisy."""

    def __init__(self, images, labels, args):
        super(Images, self).__init__()
        self.images = images
        self.labels = labels
        self.size = args.batch_size
        self.augment = args.augment
        self.rng = np.random.RandomState(args.seed)

    def __len__(self):
        return len(self.images) // self.size

    def __getitem__(self, number):
        """The rows of one batch, and their labels."""
        part = slice(number * self.size, (number + 1) * self.size)
        images = self.images[part]
        if self.augment:
            images = np.stack([self.changed(image) for image in images])
        return images.reshape(self.size, -1), self.labels[part]

    def changed(self, image):
        """One augmented image."""
        down, right = self.rng.randint(-2, 3, 2)
        moved = np.roll(np.roll(image, down, axis=0), right, axis=1)
        mixed = 0.9 * moved + 0.1 * np.fliplr(moved)
        noisy = mixed + self.rng.normal(0.0, 0.02, image.shape)
        return np.clip(noisy, 0.0, 1.0).astype("float32")


def main():
    """Train, with or without augmentation."""
    parser = common.arguments(__doc__.split("\n", 1)[0])
    parser.add_argument("--augment", action="store_true", help="change each image at random")
    args = common.parse(parser)
    images, labels = common.pictures(args)
    common.fit_batches(common.mlp(args), Images(images, labels, args), args)


if __name__ == "__main__":
    main()
