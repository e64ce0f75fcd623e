"""The LSTM on film reviews of `scenarios/lstm.py` in Gluon, without Keras."""

import numpy as np
from mxnet.gluon import HybridBlock
from mxnet.gluon.nn import Dense, Embedding
from mxnet.gluon.rnn import LSTM

import common
import training_gluon as training


class Reviews(HybridBlock):
    """Embedding, LSTM, Dense 2 on its last output."""

    def __init__(self, args):
        super().__init__()
        self.embedding_1 = Embedding(args.words, args.embedding)
        self.lstm_1 = LSTM(args.units, layout="NTC", input_size=args.embedding)
        self.dense_1 = Dense(2, in_units=args.units)

    def hybrid_forward(self, F, tokens):  # noqa: N803  (Gluon's own name)
        """Logits of a batch of reviews."""
        outputs = self.lstm_1(self.embedding_1(tokens))
        return self.dense_1(F.slice_axis(outputs, axis=1, begin=-1, end=None))


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        model = Reviews(workload.args)
        embedding, inputs, recurrent, bias, dense, dense_bias = workload.weights
        cell = [inputs.T, recurrent.T, bias, np.zeros_like(bias)]
        training.load(model, [embedding, *cell, dense.T, dense_bias])
    common.run(workload, *training.steps(model, "adam", {"learning_rate": 0.001, "epsilon": 1e-7}))


if __name__ == "__main__":
    main()
