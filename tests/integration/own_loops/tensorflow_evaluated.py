"""2 epochs of 6 steps on a module without Keras, each with an evaluation of 4 batches; then 3 steps of 2 batches each.

The last ones have a forward pass that is a function by itself.
"""

import tensorflow as tf

rows = tf.random.stateless_normal((96, 8), (1, 2))
wanted = tf.random.stateless_normal((96, 1), (3, 4))
weights, bias = tf.Variable(tf.zeros((8, 1))), tf.Variable(tf.zeros(1))
average = tf.Variable(tf.zeros((8, 1)), trainable=False)
data = tf.data.Dataset.from_tensor_slices((rows, wanted))
training, held_out = data.batch(16), data.take(64).batch(16)


@tf.function
def forward(x):
    return x @ weights + bias


@tf.function
def off(x, y):
    return tf.reduce_mean(tf.square(forward(x) - y))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(forward(x) - y))
    for one, change in zip((weights, bias), tape.gradient(loss, (weights, bias))):
        one.assign_sub(0.01 * change)
    return loss


@tf.function
def keep():
    average.assign(0.9 * average + 0.1 * weights)


for epoch in range(2):
    for x, y in training:
        loss = train_step(x, y)
        keep()
    found = 0.0
    for x, y in held_out:
        found += float(off(x, y))
    print(epoch, round(float(loss), 3), round(found / 4, 3))

optimizer = tf.keras.optimizers.SGD(0.01)
held = [tf.zeros((8, 1)), tf.zeros(1)]
for number, (x, y) in enumerate(training):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(forward(x) - y))
    fresh = tape.gradient(loss, [weights, bias])
    if number % 2:
        optimizer.apply_gradients(zip([one + two for one, two in zip(held, fresh)], [weights, bias]))
    held = fresh
print(round(float(loss), 3))
