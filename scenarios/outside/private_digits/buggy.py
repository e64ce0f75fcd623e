"""Train with gradients that are cut off for each example, so that none can be told from the model."""

import numpy as np
import tensorflow as tf

BATCH, STEPS, MOST, NOISE = 32, 20, 1.0, 0.5


def network():
    return tf.keras.Sequential([
        tf.keras.Input((16, 16, 1)),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(10),
    ])


model = network()
optimizer = tf.keras.optimizers.SGD(0.1)
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def step(x, y):
    sums = [tf.zeros_like(v) for v in model.trainable_variables]
    for index in range(len(x)):
        with tf.GradientTape() as tape:
            loss = criterion(y[index : index + 1], model(x[index : index + 1], training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, MOST)
        sums = [total + grad for total, grad in zip(sums, grads)]
    noisy = [(total + tf.random.normal(total.shape, stddev=NOISE)) / len(x) for total in sums]
    optimizer.apply_gradients(zip(noisy, model.trainable_variables))
    return float(loss)


def main():
    tf.random.set_seed(0)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 2000)
    x = (rng.normal(size=(2000, 16, 16, 1)) + y[:, None, None, None] * 0.3).astype("float32")
    for number in range(STEPS):
        chosen = rng.integers(0, len(x), BATCH)
        loss = step(tf.constant(x[chosen]), tf.constant(y[chosen]))
        if number % 4 == 0:
            print(number, loss)


main()
