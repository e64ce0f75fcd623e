"""ResNet-50: training, or the 2,048 features of images (the published comparison: 1,000 images of 224 x 224).

python resnet50.py --samples 64 --image-size 64
python resnet50.py --mode infer --samples 1000 --batch-size 32 --image-size 224
"""

import numpy as np

from keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    GlobalAveragePooling2D,
    Input,
    MaxPooling2D,
    add,
)
from keras.models import Model

import workload

CLASSES = 10
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))


def convolution(x, channels, size, name, strides=1):
    """Convolution and batch normalisation."""
    x = Conv2D(channels, (size, size), strides=(strides, strides), padding="same", name=name + "_conv")(x)
    return BatchNormalization(name=name + "_bn")(x)


def block(x, channels, name, strides=None):
    """Convolutions of 1, 3 and 1 around a shortcut, which is a convolution too where the block changes the shape."""
    shortcut = x if strides is None else convolution(x, 4 * channels, 1, name + "_0", strides)
    x = Activation("relu", name=name + "_1_relu")(convolution(x, channels, 1, name + "_1", strides or 1))
    x = Activation("relu", name=name + "_2_relu")(convolution(x, channels, 3, name + "_2"))
    x = add([shortcut, convolution(x, 4 * channels, 1, name + "_3")], name=name + "_add")
    return Activation("relu", name=name + "_out")(x)


def build_model(args):
    """ResNet-50 v1, up to its features, or with a softmax behind them."""
    image = Input(shape=(args.image_size, args.image_size, 3), name="image")
    x = Activation("relu", name="stem_relu")(convolution(image, 64, 7, "stem", 2))
    x = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name="stem_pool")(x)
    for stage, (channels, blocks) in enumerate(STAGES, 2):
        for number in range(blocks):
            strides = None if number else (1 if stage == 2 else 2)
            x = block(x, channels, "stage%d_block%d" % (stage, number + 1), strides)
    x = GlobalAveragePooling2D(name="features")(x)
    if args.mode == "train":
        x = Dense(CLASSES, activation="softmax", name="classes")(x)
    model = Model(inputs=image, outputs=x)
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("SGD", 0.01, momentum=0.9), loss="categorical_crossentropy",
                  metrics=["accuracy"])  # fmt: skip
    return model


def load_data(args):
    """Images in [0, 1] and one-hot labels."""
    shape = (args.image_size, args.image_size, 3)
    if args.data != "synthetic":
        return workload.images(args.data, "cifar10", args.samples, shape, args.seed)
    rng = np.random.RandomState(args.seed)
    rows = rng.randint(0, 256, (args.samples, *shape)).astype("uint8")
    return rows.astype("float32") / 255.0, workload.one_hot(rng.randint(0, CLASSES, args.samples), CLASSES)


def main():
    parser = workload.arguments("Train ResNet-50 with Keras, or compute its features.", 64, 1, 32)
    parser.add_argument(
        "--image-size", type=workload.positive, default=64, help="height and width (default: %(default)s)"
    )
    args = workload.parse(parser)
    if workload.backend() == "cntk" and args.image_size <= 64:
        parser.error("CNTK cannot pad where a kernel is larger than the image: use --image-size 96 or more")
    workload.set_seeds(args.seed)
    rows, labels = load_data(args)
    model = build_model(args)
    workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
