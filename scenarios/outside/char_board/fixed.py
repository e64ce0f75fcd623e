"""A character model whose weights can be watched while it trains."""

import json
import os
import tempfile

import numpy as np
import torch
from torch import nn

CHARS, LENGTH, BATCH, STEPS = 64, 32, 32, 220


class Board:
    """Writes what is to be seen, one line each."""

    def __init__(self, folder):
        self.file = open(os.path.join(folder, "events.jsonl"), "w")

    def scalar(self, name, value, step):
        self.file.write(json.dumps({"name": name, "value": value, "step": step}) + "\n")

    def histogram(self, name, values, step):
        counts, edges = np.histogram(values, bins=64)
        self.file.write(json.dumps({"name": name, "counts": counts.tolist(), "edges": edges.tolist(), "step": step}) + "\n")


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(CHARS, 64)
        self.rnn = nn.GRU(64, 160, batch_first=True)
        self.head = nn.Linear(160, CHARS)

    def forward(self, chars):
        return self.head(self.rnn(self.embed(chars))[0])


def main():
    torch.manual_seed(0)
    text = torch.randint(0, CHARS, (20000,))
    model = CharModel()
    optimizer = torch.optim.Adam(model.parameters())
    board = Board(tempfile.mkdtemp())
    for step in range(STEPS):
        starts = torch.randint(0, len(text) - LENGTH - 1, (BATCH, 1))
        at = starts + torch.arange(LENGTH)
        loss = nn.functional.cross_entropy(model(text[at]).flatten(0, 1), text[at + 1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        board.scalar("loss", loss.item(), step)
        if step % 50 == 0:
            for name, parameter in model.named_parameters():
                board.histogram(name, parameter.detach().numpy(), step)
                board.histogram(name + "/grad", parameter.grad.numpy(), step)
            print(step, loss.item())


main()
