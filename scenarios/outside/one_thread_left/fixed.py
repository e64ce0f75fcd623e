import time

import torch
from torch import nn

torch.manual_seed(2)
images = torch.rand(1200, 3, 32, 32)
kinds = (images[:, 0].mean((1, 2)) > images[:, 1].mean((1, 2))).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 48, 3, padding=1), nn.ReLU(),
            nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 96, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(96, 2)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(3):
    begin, total = time.time(), 0.0
    for i in range(0, len(images), 60):
        loss = nn.functional.cross_entropy(net(images[i:i + 60]), kinds[i:i + 60])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.detach()
    print(epoch, float(total) / 20, round(time.time() - begin, 1), "s")
