import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    """Sliding windows over a recorded signal."""

    def __init__(self, series, width):
        self.series = series
        self.width = width

    def __len__(self):
        return len(self.series) - self.width - 1

    def __getitem__(self, i):
        w = self.series[i:i + self.width + 1]
        w = (w - w.mean()) / (w.std() + 1e-6)
        return torch.from_numpy(w[:-1]), torch.from_numpy(w[-1:])


def main():
    rng = np.random.RandomState(3)
    t = np.arange(700)
    series = (np.sin(t / 9.0) + 0.1 * rng.randn(700)).astype("float32")
    loader = DataLoader(Windows(series, 32), batch_size=64, shuffle=True, num_workers=2, persistent_workers=True)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(30):
        running = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            running += loss.item()
        if epoch % 10 == 0:
            print("epoch", epoch, "loss", round(running / len(loader), 4))


if __name__ == "__main__":
    torch.manual_seed(3)
    main()
