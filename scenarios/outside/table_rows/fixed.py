import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(10)


class Table(Dataset):
    def __init__(self, rows):
        self.data = rng.random((rows, 30)).astype("float32")
        self.target = (self.data[:, 0] > self.data[:, 1]).astype("int64")

    def __len__(self):
        return len(self.target)

    def __getitem__(self, idx):
        x = torch.from_numpy(self.data[idx])
        return x, torch.as_tensor(self.target[idx])


torch.manual_seed(10)
table = Table(12000)
order = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(table), 400, drop_last=False)
loader = DataLoader(table, sampler=order, batch_size=None)
net = torch.nn.Sequential(torch.nn.Linear(30, 32), torch.nn.ReLU(), torch.nn.Linear(32, 2))
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(20):
    right = 0
    for x, y in loader:
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
    if epoch % 5 == 0:
        print(epoch, right / len(table))
