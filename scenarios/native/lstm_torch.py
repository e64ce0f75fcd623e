"""The LSTM on film reviews of `scenarios/lstm.py` in PyTorch, without Keras."""

import numpy as np
import torch
from torch.nn import LSTM, Embedding, Linear

import common
import training_torch as training


class Reviews(torch.nn.Module):
    """Embedding, LSTM, Dense 2 on its last output."""

    def __init__(self, args):
        super().__init__()
        self.embedding_1 = Embedding(args.words, args.embedding)
        self.lstm_1 = LSTM(args.embedding, args.units, batch_first=True)
        self.dense_1 = Linear(args.units, 2)

    def forward(self, tokens):
        """Logits of a batch of reviews."""
        outputs, _ = self.lstm_1(self.embedding_1(tokens))
        return self.dense_1(outputs[:, -1])


def main():
    workload = common.lstm()
    with common.mark.phase("construct"):
        model = Reviews(workload.args)
        embedding, inputs, recurrent, bias, dense, dense_bias = workload.weights
        cell = [inputs.T, recurrent.T, bias, np.zeros_like(bias)]
        training.load(model, [embedding, *cell, dense.T, dense_bias])
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001, eps=1e-7)
    common.mark.model(model, optimizer)
    common.run(workload, *training.steps(model, optimizer))


if __name__ == "__main__":
    main()
