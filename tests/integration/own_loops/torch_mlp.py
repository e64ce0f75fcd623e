"""A loop in functions: 3 epochs of 10 steps, each followed by an evaluation of 4."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, loader, optimizer, loss_fn):
    model.train()
    total = 0.0
    for rows, labels in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(rows), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for rows, labels in loader:
            right += (model(rows).argmax(1) == labels).sum().item()
    return right


def main():
    torch.manual_seed(0)
    rows, labels = torch.randn(160, 20), torch.randint(0, 4, (160,))
    loader = DataLoader(TensorDataset(rows, labels), batch_size=16, shuffle=True)
    held_out = DataLoader(TensorDataset(rows[:64], labels[:64]), batch_size=16)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        print(epoch, train_epoch(model, loader, optimizer, nn.CrossEntropyLoss()), evaluate(model, held_out))


main()
