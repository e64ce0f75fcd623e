import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
np.random.seed(7)
tf1.set_random_seed(7)
X = np.random.rand(1280, 16).astype("float32")
Y = X[:, :1] * 2 - X[:, 1:2]

x = tf1.placeholder(tf.float32, (None, 16))
y = tf1.placeholder(tf.float32, (None, 1))
h = tf1.layers.dense(x, 32, activation=tf.nn.tanh)
loss = tf.reduce_mean((tf1.layers.dense(h, 1) - y) ** 2)
rate = tf1.Variable(0.05, trainable=False)
train = tf1.train.MomentumOptimizer(rate, 0.9).minimize(loss)
slow = tf1.assign(rate, 0.005)
saver = tf1.train.Saver()

with tf1.Session() as sess:
    sess.run(tf1.global_variables_initializer())
    for step in range(1600):
        if step == 800:
            sess.run(slow)
        k = step % 40 * 32
        value, _ = sess.run([loss, train], {x: X[k:k + 32], y: Y[k:k + 32]})
        if step % 400 == 0:
            print(step, value)
