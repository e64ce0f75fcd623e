import time
import numpy as np
import tensorflow as tf

tf.random.set_seed(21)
rng = np.random.RandomState(21)
x = rng.randn(4096, 16).astype(np.float32)
y = (np.sin(x[:, :1] * 2) + x[:, 1:2] ** 2).astype(np.float32)


class Mlp(tf.Module):
    def __init__(self, sizes):
        super().__init__()
        self.w = [tf.Variable(tf.random.normal((a, b)) / a ** 0.5) for a, b in zip(sizes, sizes[1:])]
        self.b = [tf.Variable(tf.zeros(b)) for b in sizes[1:]]

    def __call__(self, v):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            v = tf.nn.elu(v @ w + b)
        return v @ self.w[-1] + self.b[-1]


net = Mlp([16, 32, 32, 32, 32, 32, 1])
m = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]


def train_step(xb, yb, lr):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(xb) - yb) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    for var, mom, g in zip(net.trainable_variables, m, grads):
        mom.assign(0.9 * mom + g)
        var.assign_sub(lr * mom)
    return loss


data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096, seed=1).batch(64)
lr = tf.constant(0.003)
for epoch in range(12):
    t, losses = time.time(), []
    for xb, yb in data:
        losses.append(train_step(xb, yb, lr))
    print("epoch", epoch, "mse %.4f" % float(tf.reduce_mean(losses)), "%.2fs" % (time.time() - t))
