"""The whole step compiled as one: 2 epochs of 8 steps."""

import torch
from torch import nn

torch.manual_seed(0)
rows, wanted = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


@torch.compile(backend="eager")
def train_step(batch, target):
    loss = nn.functional.mse_loss(model(batch), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for epoch in range(2):
    for start in range(0, 64, 8):
        loss = train_step(rows[start : start + 8], wanted[start : start + 8])
    print(epoch, round(loss.item(), 5), torch._dynamo.utils.counters["stats"]["unique_graphs"])
print([reason.reason.split("\n")[0] for reason in torch._dynamo.utils.graph_break_reasons])
