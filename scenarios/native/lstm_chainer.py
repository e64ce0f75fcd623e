"""The LSTM on film reviews of `scenarios/lstm.py` in Chainer, without Keras."""

import chainer
import numpy as np
from chainer import functions
from chainer import links

import common
import training_chainer as training


class Reviews(chainer.Chain):
    """Embedding, LSTM, Dense 2 on its last output."""

    def __init__(self, args):
        super().__init__()
        self.units = args.units
        with self.init_scope():
            self.embedding_1 = links.EmbedID(args.words, args.embedding)
            self.lstm_1_inputs = links.Linear(args.embedding, 4 * args.units)
            self.lstm_1_hidden = links.Linear(args.units, 4 * args.units, nobias=True)
            self.dense_1 = links.Linear(args.units, 2)

    def forward(self, tokens):
        """Logits of a batch of reviews."""
        inputs = self.lstm_1_inputs(self.embedding_1(tokens), n_batch_axes=2)
        memory = np.zeros((len(tokens), self.units), "float32")
        hidden = memory
        for time in range(tokens.shape[1]):
            memory, hidden = functions.lstm(memory, inputs[:, time] + self.lstm_1_hidden(hidden))
        return self.dense_1(hidden)


def gates(array):
    """Columns of the four gates as `functions.lstm` takes them: interleaved, new first, then in, forget and out."""
    ingate, forget, new, out = np.split(array, 4, axis=-1)
    return np.stack([new, ingate, forget, out], axis=-1).reshape(array.shape)


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        model = Reviews(workload.args)
        embedding, kernel, recurrent, bias, dense, dense_bias = workload.weights
        training.load(model, {"embedding_1/W": embedding, "lstm_1_inputs/W": gates(kernel).T,
                              "lstm_1_inputs/b": gates(bias), "lstm_1_hidden/W": gates(recurrent).T,
                              "dense_1/W": dense.T, "dense_1/b": dense_bias})  # fmt: skip
    common.run(workload, *training.steps(model, chainer.optimizers.Adam(alpha=0.001, eps=1e-7)))


if __name__ == "__main__":
    main()
