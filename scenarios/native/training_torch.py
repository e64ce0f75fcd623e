"""Steps of training and inference with PyTorch."""

import numpy as np
import torch
from torch.nn import functional


def seed(number):
    """The same random numbers in every run."""
    torch.manual_seed(number)


def load(model, arrays):
    """Give a model its initial weights: arrays in the order and the shapes of its parameters."""
    with torch.no_grad():
        for parameter, array in zip(model.parameters(), arrays):
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(array)))


def steps(model, optimizer):
    """The functions that `common.run` takes; `model` gives logits."""

    def step(rows, labels):
        model.train()
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(torch.from_numpy(rows)), torch.from_numpy(labels))
        loss.backward()
        optimizer.step()
        return loss.detach()

    def test(rows, labels):
        model.eval()
        with torch.no_grad():
            found, wanted = model(torch.from_numpy(rows)), torch.from_numpy(labels)
            right = (found.argmax(1) == wanted.argmax(1)).sum()
            return functional.cross_entropy(found, wanted), right

    def predict(rows):
        model.eval()
        with torch.no_grad():
            return functional.softmax(model(torch.from_numpy(rows)), 1).numpy()

    return step, test, predict
