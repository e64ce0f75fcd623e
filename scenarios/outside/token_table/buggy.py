import numpy as np
import tensorflow as tf

tf.random.set_seed(11)
rng = np.random.RandomState(11)
TOKENS, DIM = 150000, 64
ids = rng.randint(0, TOKENS, (4096, 10)).astype("int32")
goal = rng.rand(4096, 1).astype("float32")
table = tf.Variable(tf.random.normal((TOKENS, DIM), stddev=0.05))
out = tf.Variable(tf.random.normal((DIM, 1), stddev=0.1))


@tf.function
def train(batch, y):
    with tf.GradientTape() as tape:
        vectors = tf.nn.embedding_lookup(table, batch)
        loss = tf.reduce_mean((tf.reduce_mean(vectors, 1) @ out - y) ** 2)
    for v, g in zip([table, out], tape.gradient(loss, [table, out])):
        g = tf.convert_to_tensor(g)
        v.assign_sub(0.1 * g)
    return loss


data = tf.data.Dataset.from_tensor_slices((ids, goal)).shuffle(4096, seed=1).batch(32)
for epoch in range(4):
    total = 0.0
    for batch, y in data:
        total += float(train(batch, y))
    print(epoch, total / 128)
