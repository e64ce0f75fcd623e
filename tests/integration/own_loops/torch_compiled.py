"""A compiled model, without a break of its graph: one pass of 20 steps."""

import torch
from torch import nn

torch.manual_seed(0)
rows, wanted = torch.randn(16, 8), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
compiled = torch.compile(model, backend="eager", fullgraph=True)
for _step in range(20):
    loss = nn.functional.mse_loss(compiled(rows), wanted)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item(), dict(torch._dynamo.utils.counters["stats"]))
