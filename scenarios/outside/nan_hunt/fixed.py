import argparse
import torch
from torch import nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--iters", type=int, default=150)
ap.add_argument("--rays", type=int, default=256)
args = ap.parse_args()

torch.manual_seed(4)
torch.autograd.set_detect_anomaly(False)


def encode(x, bands=6):
    out = [x]
    for k in range(bands):
        out += [torch.sin(2.0 ** k * x), torch.cos(2.0 ** k * x)]
    return torch.cat(out, -1)


class Field(nn.Module):
    def __init__(self, depth=6, width=48):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(26 if i == 0 else width, width) for i in range(depth)])
        self.rgb = nn.Linear(width, 3)

    def forward(self, x):
        h = encode(x)
        for layer in self.layers:
            h = F.relu(layer(h))
        return torch.sigmoid(self.rgb(h))


def picture(p):
    return torch.stack([p[:, 0].sin() * 0.5 + 0.5, p[:, 1].cos() * 0.5 + 0.5, (p[:, 0] * p[:, 1]).abs().clamp(0, 1)], 1)


field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=2e-3)
for it in range(args.iters * 6):
    pts = torch.rand(args.rays, 2) * 2 - 1
    loss = F.mse_loss(field(pts), picture(pts))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 300 == 0:
        print("[%d] psnr %.2f" % (it, -10 * torch.log10(loss).item()))
