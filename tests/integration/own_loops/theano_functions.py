"""A function with updates, and one without: 3 epochs of 5 steps."""

import numpy as np
import theano
import theano.tensor as T

rng = np.random.RandomState(0)
rows, wanted = rng.randn(50, 4).astype("float32"), rng.randn(50).astype("float32")
x, y = T.fmatrix("x"), T.fvector("y")
weights = theano.shared(np.zeros(4, "float32"), name="weights")
loss = T.mean((T.dot(x, weights) - y) ** 2)
train = theano.function([x, y], loss, updates=[(weights, weights - np.float32(0.1) * T.grad(loss, weights))])
test = theano.function([x, y], loss)
for epoch in range(3):
    for start in range(0, 50, 10):
        train(rows[start : start + 10], wanted[start : start + 10])
    print(epoch, round(float(test(rows, wanted)), 4))
