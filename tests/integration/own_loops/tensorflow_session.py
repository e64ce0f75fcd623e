"""Sessions of the old kind, in TensorFlow 2: 3 epochs of 4 steps with placeholders, each with a test; then 6 steps by two."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(0)
rows = np.linspace(-1, 1, 64, dtype=np.float32).reshape(32, 2)
wanted = rows.sum(axis=1, keepdims=True)
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
weight = tf.get_variable("weight", [2, 1], initializer=tf.zeros_initializer())
bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, weight) + bias - y))
train = tf.train.AdamOptimizer(0.1).minimize(loss)
first = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[weight])
second = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, var_list=[bias])


def learn(session, start):
    batch = {x: rows[start : start + 8], y: wanted[start : start + 8]}
    return session.run(fetches=[train, loss], feed_dict=batch)[1]


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for epoch in range(3):
        for start in range(0, 32, 8):
            if start == 24:
                session.run([loss, train, {"bias": bias}], {x: rows[start:], y: wanted[start:]})
            else:
                learn(session, start)
        print(epoch, round(float(session.run(loss, {x: rows, y: wanted})), 4))
    for _turn in range(6):
        session.run(first, {x: rows, y: wanted})
        second.run({x: rows, y: wanted})
    print(round(float(loss.eval({x: rows, y: wanted})), 4))
