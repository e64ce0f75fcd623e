"""By hand: 3 epochs of 10 steps of a loader; 8 steps by autograd.grad; 2 epochs of 6 by .data; then no training."""

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = torch.randn(80, 20), torch.randn(80, 1)
loader = DataLoader(TensorDataset(X, y), batch_size=8)
w1, b1 = torch.randn(20, 16, requires_grad=True), torch.zeros(16, requires_grad=True)
w2, b2 = torch.randn(16, 1, requires_grad=True), torch.zeros(1, requires_grad=True)


def net(x):
    return torch.relu(x @ w1 + b1) @ w2 + b2


def sgd(params, lr):
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad  # noqa: PLW2901
            p.grad.zero_()


for epoch in range(3):
    for xb, yb in loader:
        loss = ((net(xb) - yb) ** 2).mean()
        loss.backward()
        sgd([w1, b1, w2, b2], 0.01)
    print(epoch, float(loss))

model = torch.nn.Sequential(torch.nn.Linear(20, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
for i in range(8):
    loss = ((model(X[i * 10 : i * 10 + 10]) - y[i * 10 : i * 10 + 10]) ** 2).mean()
    grads = torch.autograd.grad(loss, list(model.parameters()))
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            p.sub_(0.01 * g)
print(float(loss))

w = torch.randn(20, 1, requires_grad=True)
for _epoch in range(2):
    for i in range(6):
        loss = ((X[i * 10 : i * 10 + 10] @ w - y[i * 10 : i * 10 + 10]) ** 2).mean()
        if w.grad is not None:
            w.grad.data.zero_()
        loss.backward()
        w.data -= 0.01 * w.grad.data
print(float(loss))

# no training: saliency of each row, and a sum that is looked at again and again
for i in range(6):
    x = X[i : i + 1].clone().requires_grad_()
    model(x).sum().backward()
    model.zero_grad()
print("done")
