import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
np.random.seed(7)
tf.set_random_seed(7)
X = np.random.rand(1280, 16).astype("float32")
Y = X[:, :1] * 2 - X[:, 1:2]

x = tf.placeholder(tf.float32, (None, 16))
y = tf.placeholder(tf.float32, (None, 1))
a = tf.Variable(tf.random_normal((16, 32), stddev=0.2))
b = tf.Variable(tf.random_normal((32, 1), stddev=0.2))
loss = tf.reduce_mean((tf.matmul(tf.nn.tanh(tf.matmul(x, a)), b) - y) ** 2)
rate = tf.Variable(0.05, trainable=False)
train = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss)
saver = tf.train.Saver()

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(400):
        if step >= 200:
            sess.run(tf.assign(rate, 0.005))
        else:
            sess.run(tf.assign(rate, 0.05))
        k = step % 40 * 32
        value, _ = sess.run([loss, train], {x: X[k:k + 32], y: Y[k:k + 32]})
        if step % 100 == 0:
            print(step, value)
