"""A model of Keras in a loop of torch's: 3 epochs of 6 steps, each with three evaluations, two of a loader of 2 batches."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch
from torch.utils.data import DataLoader, TensorDataset

keras.utils.set_random_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=16)
held_out = DataLoader(TensorDataset(torch.randn(32, 8), torch.randn(32, 1)), batch_size=16)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    for rows, wanted in loader:
        optimizer.zero_grad()
        torch.mean((model(rows, training=True) - wanted) ** 2).backward()
        optimizer.step()
    plain = [torch.mean((model(rows, training=False) - wanted) ** 2).item() for rows, wanted in held_out]
    inside = []
    for rows, wanted in held_out:
        with torch.no_grad():
            inside.append(torch.mean((model(rows) - wanted) ** 2).item())
    rows, wanted = held_out.dataset.tensors
    with torch.no_grad():
        print(epoch, plain == inside, torch.mean((model(rows, training=False) - wanted) ** 2).item())
