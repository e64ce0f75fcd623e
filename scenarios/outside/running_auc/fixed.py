import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)


class Auc:
    def __init__(self):
        self.scores, self.labels = [], []

    def update(self, s, y):
        self.scores.append(s.detach())
        self.labels.append(y)

    def compute(self):
        s, y = torch.cat(self.scores), torch.cat(self.labels)
        y = y[s.argsort()]
        ranks = torch.arange(1, len(y) + 1)
        pos = y.sum()
        return ((ranks * y).sum() - pos * (pos + 1) / 2) / (pos * (len(y) - pos) + 1e-9)


class Ctr(nn.Module):
    def __init__(self):
        super().__init__()
        self.ads = nn.Embedding(500, 16)
        self.users = nn.Embedding(2000, 16)
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, u, a):
        return self.mlp(torch.cat([self.users(u), self.ads(a)], 1)).squeeze(1)


users, ads = torch.randint(0, 2000, (130000,)), torch.randint(0, 500, (130000,))
clicks = ((users + ads) % 3 == 0).float()
model = Ctr()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
auc = Auc()
for step, rows in enumerate(torch.randperm(130000).split(256)):
    logits = model(users[rows], ads[rows])
    loss = F.binary_cross_entropy_with_logits(logits, clicks[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    auc.update(logits, clicks[rows])
    if step % 60 == 0:
        print(step, {"loss": loss.item(), "auc": auc.compute().item()})
print(len(auc.scores), {"loss": loss.item(), "auc": auc.compute().item()})
