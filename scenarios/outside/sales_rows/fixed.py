"""Forecast sales from rows of a database."""

import os
import sqlite3
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROWS, COLUMNS = 6000, 12


def filled(path):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(ROWS, COLUMNS + 1))
    values[:, -1] = values[:, :4].sum(axis=1)
    names = ", ".join(f"c{i} REAL" for i in range(COLUMNS + 1))
    with sqlite3.connect(path) as db:
        db.execute(f"CREATE TABLE sales (id INTEGER PRIMARY KEY, {names})")
        marks = ", ".join("?" * (COLUMNS + 2))
        db.executemany(f"INSERT INTO sales VALUES ({marks})", [(i, *row) for i, row in enumerate(values.tolist())])


class Sales(Dataset):
    def __init__(self, path):
        self.db = sqlite3.connect(path)

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        row = self.db.execute("SELECT * FROM sales WHERE id = ?", (index,)).fetchone()
        values = torch.tensor(row[1:], dtype=torch.float32)
        return values[:-1], values[-1:]


def main():
    torch.manual_seed(0)
    path = os.path.join(tempfile.mkdtemp(), "sales.db")
    filled(path)
    loader = DataLoader(Sales(path), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(COLUMNS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(4):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total)


main()
