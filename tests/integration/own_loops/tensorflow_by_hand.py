"""By hand: 3 epochs of 10 steps of tf.data; 8 by a graph of gradients; 2 epochs of 6, a gradient each; then none."""

import tensorflow as tf

tf.random.set_seed(0)
X, y = tf.random.normal((80, 20)), tf.random.normal((80, 1))
batches = tf.data.Dataset.from_tensor_slices((X, y)).batch(8)
w = tf.Variable(tf.random.normal((20, 1), stddev=0.01))
b = tf.Variable(tf.zeros(1))


def sgd(params, grads, lr, size):
    for param, grad in zip(params, grads):
        param.assign_sub(lr * grad / size)


for epoch in range(3):
    for xb, yb in batches:
        with tf.GradientTape() as g:
            loss = tf.reduce_mean((tf.matmul(xb, w) + b - yb) ** 2)
        dw, db = g.gradient(loss, [w, b])
        sgd([w, b], [dw, db], 0.03, 8)
    print(epoch, float(loss))


@tf.function
def gradients(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2)
    return tape.gradient(loss, [w, b])


for i in range(8):
    sgd([w, b], gradients(X[i * 8 : i * 8 + 8], y[i * 8 : i * 8 + 8]), 0.03, 8)
print(w.numpy().sum())

layers = [tf.Variable(tf.random.normal((20, 20))) for _ in range(4)]
velocity = [tf.Variable(tf.zeros((20, 20))) for _ in range(4)]
for _epoch in range(2):
    for i in range(6):
        with tf.GradientTape(persistent=True) as tape:
            h = X[i * 8 : i * 8 + 8]
            for layer in layers:
                h = tf.tanh(h @ layer)
            loss = tf.reduce_mean(h**2)
        for v, vel in zip(layers, velocity):
            g = tape.gradient(loss, v)
            vel.assign(0.9 * vel + g)
            v.assign_sub(0.01 * vel)
        del tape
print(float(loss))

seen = tf.Variable(0)
for _i in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(X, w) + b - y) ** 2)
    tape.gradient(loss, [w, b])
    seen.assign_add(1)
print(int(seen))
