import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
np.random.seed(6)
tiles = np.random.rand(240, 1, 48, 48, 3).astype("float32")
trained = [np.random.rand(3, 3, 3 if i == 0 else 8, 8).astype("float32") / 20 for i in range(8)]

graph = tf.Graph()
with graph.as_default():
    image = tf.placeholder(tf.float32, (None, 48, 48, 3), name="image")
    h, weights = image, []
    for i, w in enumerate(trained):
        weights.append(tf.get_variable("conv%d" % i, w.shape))
        h = tf.nn.relu(tf.nn.conv2d(h, weights[-1], 1, "SAME"))
    boxes = tf.reduce_mean(h, [1, 2])[:, :4]
    holders = [tf.placeholder(tf.float32, w.shape) for w in weights]
    assigns = [tf.assign(w, p) for w, p in zip(weights, holders)]


sess = tf.Session(graph=graph)
sess.run(assigns, dict(zip(holders, trained)))


def predict(tile):
    return sess.run(boxes, {image: tile})


found = [predict(tile)[0] for tile in tiles]
print(len(found), np.round(np.mean(found, 0), 4))
