"""Sentiment of film reviews (IMDB): an embedding, an LSTM or GRU, and a softmax of two classes.

The GRU with 150 tokens and a vocabulary of 30,000 is that of the published comparison of frameworks. Usage:

    python lstm.py --samples 1024 --tokens 80
    python lstm.py --cell gru --mode infer
    python lstm.py --data imdb            # downloads the reviews on first use
"""

from keras.layers import GRU, LSTM, Dense, Embedding
from keras.models import Sequential

import inputs
import workload


def build_model(args):
    """Embedding, LSTM or GRU, Dense 2 softmax; Adam."""
    model = Sequential()
    if workload.keras_major() >= 3:
        workload.start(model, (args.tokens,), dtype="int32")
        first = {}
    else:
        first = {"input_length": args.tokens}
    model.add(Embedding(args.words, args.embedding, name="embedding_1", **first))
    alike = {"recurrent_activation": "sigmoid"}  # Keras 2 took a cheaper one, unless told
    if args.cell == "lstm":
        model.add(LSTM(args.units, name="lstm_1", **alike))
    else:
        # The two ways to reset a GRU have weights of different shapes, and Keras 2 and 3 differ in the default.
        model.add(GRU(args.units, reset_after=False, name="gru_1", **alike))
    model.add(Dense(2, activation="softmax", name="dense_1"))
    workload.set_weights(model, args)
    model.compile(optimizer=workload.optimizer("Adam", 0.001), loss="categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    parser = workload.arguments("Train or run a recurrent network on film reviews with Keras.", 1024, 2, 64)
    parser.add_argument("--cell", choices=("lstm", "gru"), default="lstm")
    parser.add_argument(
        "--tokens", type=workload.positive, default=150, help="length of a review (default: %(default)s)"
    )
    parser.add_argument("--words", type=workload.positive, default=30000, help="vocabulary (default: %(default)s)")
    parser.add_argument("--embedding", type=workload.positive, default=125, help="(default: %(default)s)")
    parser.add_argument("--units", type=workload.positive, default=100, help="of the cell (default: %(default)s)")
    args = workload.parse(parser)
    workload.set_seeds(args.seed)
    rows, labels = inputs.reviews(args)
    model = build_model(args)
    workload.run(model, rows, labels, args)


if __name__ == "__main__":
    main()
