"""A model for each of 3 folds, in slices without a loader: 3 trainings of 2 epochs of 5 steps."""

import torch
from torch import nn

torch.manual_seed(0)
rows, wanted = torch.randn(150, 8), torch.randn(150, 1)


def fit(part):
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _epoch in range(2):
        order = torch.randperm(len(part))
        for start in range(0, len(part), 20):
            batch = part[order[start : start + 20]]
            loss = nn.functional.mse_loss(model(rows[batch]), wanted[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


for fold in range(3):
    print(fold, fit(torch.arange(150)[torch.arange(150) % 3 != fold]))
