"""A tiny training with PyTorch, without Keras, with workers that load the data."""

import sys

import torch


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, n):
        row = torch.tensor([float(n), 1.0]) / 8
        return row, row.sum()[None]


if __name__ == "__main__":
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.constant_(layer.weight, 0.5)
    torch.nn.init.constant_(layer.bias, 0.0)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    for _ in range(2):
        for rows, wanted in torch.utils.data.DataLoader(Rows(), 4, num_workers=2):
            loss = torch.nn.functional.mse_loss(layer(rows), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("%.4f" % loss.item())
    sys.exit(3)
