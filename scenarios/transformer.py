"""A small Transformer encoder that classifies sequences of tokens. Needs Keras 3.

python transformer.py --samples 1024 --blocks 2
python transformer.py --mode infer
"""

import sys

import numpy as np

import keras

import workload

if workload.keras_major() < 3:
    sys.exit("error: transformer.py needs Keras 3 (attention layers); this is Keras " + keras.__version__)

from keras import layers


class Positions(layers.Layer):
    """Adds a learned vector for each position."""

    def build(self, shape):
        self.vectors = self.add_weight(shape=shape[1:], initializer="random_normal", name="positions")

    def call(self, x):
        return x + self.vectors


def synthetic(args):
    """Sequences whose class is whether the largest token comes in the first half."""
    rng = np.random.RandomState(args.seed)
    rows = rng.randint(1, args.words, (args.samples, args.tokens))
    labels = (rows.argmax(axis=1) < args.tokens // 2).astype("int64")
    return rows.astype("int32"), workload.one_hot(labels, 2)


def block(x, number, args):
    """Self-attention and two dense layers, each with a shortcut and layer normalisation."""
    name = "block%d_" % number
    heads = layers.MultiHeadAttention(args.heads, args.width // args.heads, name=name + "attention")(x, x)
    x = layers.LayerNormalization(name=name + "norm_1")(layers.add([x, heads], name=name + "add_1"))
    inner = layers.Dense(4 * args.width, activation="gelu", name=name + "dense_1")(x)
    inner = layers.Dense(args.width, name=name + "dense_2")(inner)
    inner = workload.dropout(0.1, args, name=name + "dropout")(inner)
    return layers.LayerNormalization(name=name + "norm_2")(layers.add([x, inner], name=name + "add_2"))


def build_model(args):
    """Embedding, positions, blocks, mean over the tokens, Dense 2 softmax; Adam."""
    tokens = keras.Input((args.tokens,), dtype="int32", name="tokens")
    x = layers.Embedding(args.words, args.width, name="embedding")(tokens)
    x = Positions(name="positions")(x)
    for number in range(1, args.blocks + 1):
        x = block(x, number, args)
    x = layers.GlobalAveragePooling1D(name="mean")(x)
    model = keras.Model(tokens, layers.Dense(2, activation="softmax", name="classes")(x))
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("Adam", 0.001), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    parser = workload.arguments("Train or run a small Transformer encoder with Keras 3.", 1024, 2, 64)
    parser.add_argument("--tokens", type=workload.positive, default=64, help="(default: %(default)s)")
    parser.add_argument("--words", type=workload.positive, default=1000, help="vocabulary (default: %(default)s)")
    parser.add_argument(
        "--width", type=workload.positive, default=64, help="of a token's vector (default: %(default)s)"
    )
    parser.add_argument("--heads", type=workload.positive, default=4, help="(default: %(default)s)")
    parser.add_argument("--blocks", type=workload.positive, default=2, help="(default: %(default)s)")
    args = workload.parse(parser)
    if args.width % args.heads:
        parser.error("--width must be a multiple of --heads")
    workload.set_seeds(args.seed)
    if args.data == "synthetic":
        rows, labels = synthetic(args)
    else:
        rows, labels = workload.from_file(args.data, (args.tokens,), 2)
        rows, labels = rows[: args.samples].astype("int32"), workload.one_hot(labels[: args.samples], 2)
    model = build_model(args)
    workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
