"""LBFGS by itself: 7 turns in one call, searching a line in each; then 3 calls in a loop of the script's own."""

import torch

torch.manual_seed(0)
x = torch.randn(64, 4)
y = torch.sin(x).sum(1, keepdim=True)
model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))


def train(optimizer):
    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        return loss

    return optimizer.step(closure).item()


settings = {"max_iter": 7, "max_eval": 50, "tolerance_grad": 0, "tolerance_change": 0}
print("%.4f" % train(torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe", **settings)))
optimizer = torch.optim.LBFGS(model.parameters(), **settings)
for _ in range(3):
    print("%.4f" % train(optimizer))
