"""Classify small microscope pictures of cells that lie in one archive."""

import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CELLS = 700
SIDE = 32


def write(path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, CELLS)
    base = np.linspace(0, 255, SIDE * SIDE).reshape(SIDE, SIDE)
    pictures = (base[None] * (labels[:, None, None] + 1) / 4 + rng.integers(0, 12, (CELLS, SIDE, SIDE))).astype("uint8")
    np.savez_compressed(path, pictures=pictures, labels=labels)


class Cells(Dataset):
    def __init__(self, path):
        archive = np.load(path)
        self.pictures, self.labels = archive["pictures"], archive["labels"]
        self.count = len(self.labels)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = self.pictures[index].astype("float32") / 255
        label = self.labels[index]
        return torch.from_numpy(picture)[None], int(label)


def main():
    torch.manual_seed(0)
    path = os.path.join(tempfile.mkdtemp(), "cells.npz")
    write(path)
    loader = DataLoader(Cells(path), batch_size=20, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 64), nn.ReLU(), nn.Linear(64, 4),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        right = 0
        for pictures, labels in loader:
            optimizer.zero_grad()
            out = model(pictures)
            loss = nn.functional.cross_entropy(out, labels)
            loss.backward()
            optimizer.step()
            right += (out.argmax(1) == labels).sum().item()
        print("epoch", epoch, "accuracy", right / CELLS)


main()
