"""Gradients of 4 batches make an update: 2 epochs of 3 steps; 12 batches each, by 2 workers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(96, 8), torch.randn(96, 1)), batch_size=8, num_workers=2)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        for i, (rows, wanted) in enumerate(loader):
            loss = nn.functional.mse_loss(model(rows), wanted) / 4
            loss.backward()
            if (i + 1) % 4 == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(epoch, loss.item())
