import numpy as np
import tensorflow as tf

np.random.seed(6)
tf.compat.v1.set_random_seed(6)
tiles = np.random.rand(60, 1, 48, 48, 3).astype("float32")

graph = tf.Graph()
with graph.as_default():
    image = tf.compat.v1.placeholder(tf.float32, (None, 48, 48, 3), name="image")
    h = image
    for i in range(8):
        h = tf.compat.v1.layers.conv2d(h, 8, 3, padding="same", activation=tf.nn.relu, name="conv%d" % i)
    boxes = tf.compat.v1.layers.dense(tf.reduce_mean(h, [1, 2]), 4, name="boxes")
    init = tf.compat.v1.global_variables_initializer()
    weights = tf.compat.v1.global_variables()
    holders = [tf.compat.v1.placeholder(w.dtype.base_dtype, w.shape) for w in weights]
    assigns = [tf.compat.v1.assign(w, p) for w, p in zip(weights, holders)]
with tf.compat.v1.Session(graph=graph) as first:
    first.run(init)
    trained = first.run(weights)


sess = tf.compat.v1.Session(graph=graph)
sess.run(assigns, dict(zip(holders, trained)))


def predict(tile):
    return sess.run(boxes, {image: tile})


found = [predict(tile)[0] for tile in tiles]
print(len(found), np.round(np.mean(found, 0), 4))
