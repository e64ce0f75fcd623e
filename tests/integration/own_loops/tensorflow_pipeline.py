"""A pipeline of tf.data whose map takes longer than the steps: one pass of 40 steps."""

import tensorflow as tf

tf.random.set_seed(0)
kernel = tf.Variable(tf.ones((1, 1)))
optimizer = tf.keras.optimizers.SGD(0.001)


def slow(number):
    squares = tf.fill((1000, 1000), tf.cast(number, tf.float32) / 1e6)
    return tf.reduce_sum(squares @ squares, keepdims=True)[0]


def rows():
    yield from range(320)


data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((), tf.int64))
data = data.map(slow, num_parallel_calls=2).shuffle(16, seed=1)
data = data.batch(8).prefetch(1)


@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(batch @ kernel))
    optimizer.apply_gradients(zip(tape.gradient(loss, [kernel]), [kernel]))
    return loss


for batch in data:
    loss = step(batch)
print(round(float(loss), 3))
