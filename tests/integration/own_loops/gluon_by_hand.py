"""By hand: 3 epochs of 10 steps of a loader; 2 epochs of 6 of a net; 5 steps in place; then gradients alone."""

import mxnet as mx
from mxnet import autograd, gluon, nd

mx.random.seed(0)
X, y = nd.random.normal(shape=(80, 20)), nd.random.normal(shape=(80, 1))
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(X, y), batch_size=8)
w, b = nd.random.normal(scale=0.01, shape=(20, 1)), nd.zeros(1)
w.attach_grad()
b.attach_grad()


def sgd(params, lr, size):
    for param in params:
        param[:] = param - lr * param.grad / size


for epoch in range(3):
    for xb, yb in loader:
        with autograd.record():
            loss = (nd.dot(xb, w) + b - yb) ** 2
        loss.backward()
        sgd([w, b], 0.03, 8)
    print(epoch, loss.mean().asscalar())

net = gluon.nn.Sequential()
net.add(gluon.nn.Dense(8), gluon.nn.Dense(1))
net.initialize()
for _epoch in range(2):
    for i in range(6):
        with autograd.record():
            loss = ((net(X[i * 8 : i * 8 + 8]) - y[i * 8 : i * 8 + 8]) ** 2).mean()
        autograd.backward([loss])
        for p in net.collect_params().values():
            p.set_data(p.data() - 0.1 * p.grad())
print(loss.asscalar())

for _i in range(5):
    with autograd.record():
        loss = ((nd.dot(X, w) - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad
print(loss.asscalar())

for _i in range(6):
    with autograd.record():
        loss = ((nd.dot(X, w) - y) ** 2).mean()
    loss.backward()
print(w.grad.sum().asscalar())
