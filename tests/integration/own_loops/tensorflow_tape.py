"""A tape in a graph, and batches of tf.data: 2 epochs of 8 steps; then 5 eager steps in slices; then 4 by hand."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rows, wanted = tf.random.normal((64, 8)), tf.random.normal((64, 1))
batches = tf.data.Dataset.from_tensor_slices((rows, wanted)).batch(8)
model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(2):
    for x, y in batches:
        loss = train_step(x, y)
    print(epoch, float(loss))

eager = tf.keras.optimizers.SGD(0.01)
for start in range(0, 40, 8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(rows[start : start + 8]) - wanted[start : start + 8]))
    eager.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
print(float(loss))


weight = tf.Variable(tf.zeros((8, 1)))
seen = tf.Variable(0)


@tf.function
def by_hand(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weight - y))
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss


@tf.function
def count(x):
    seen.assign_add(tf.shape(x)[0])
    return tf.reduce_mean(x @ weight)


for start in range(0, 32, 8):
    loss = by_hand(rows[start : start + 8], wanted[start : start + 8])
    count(rows[start : start + 8])
print(float(loss), int(seen))
