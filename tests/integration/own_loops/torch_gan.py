"""Two optimisers in each turn of the loop: 2 epochs of 6 steps."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 8)), batch_size=16, shuffle=True)
critic = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
of_critic = torch.optim.Adam(critic.parameters())
of_maker = torch.optim.Adam(maker.parameters())
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(2):
    for _i, (real,) in enumerate(loader):
        of_critic.zero_grad()
        made = maker(torch.randn(len(real), 4))
        loss = loss_fn(critic(real), torch.ones(len(real), 1)) + loss_fn(
            critic(made.detach()), torch.zeros(len(real), 1)
        )
        loss.backward()
        of_critic.step()
        of_maker.zero_grad()
        fooled = loss_fn(critic(made), torch.ones(len(real), 1))
        fooled.backward()
        of_maker.step()
    print(epoch, loss.item(), fooled.item())
