"""An optimiser of Keras in a loop of torch's: 2 epochs of 6 steps."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import torch
from torch.utils.data import DataLoader, TensorDataset

keras.utils.set_random_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=16)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
for epoch in range(2):
    for rows, wanted in loader:
        loss = torch.mean((model(rows) - wanted) ** 2)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            optimizer.apply([one.value.grad for one in model.trainable_weights], model.trainable_weights)
    print(epoch, round(loss.item(), 4))
