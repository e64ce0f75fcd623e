"""Q-learning with a replay buffer, in TensorFlow with a tape of its own."""

import numpy as np
import tensorflow as tf

SIZE, BATCH, UPDATES = 500_000, 64, 500


class Buffer:
    def __init__(self, size, rng):
        self.size, self.rng = size, rng
        self.states = rng.normal(size=(size, 8)).astype("float32")
        self.actions = rng.integers(0, 3, size).astype("int32")
        self.rewards = rng.normal(size=size).astype("float32")

    def sample(self, count):
        chosen = np.random.choice(self.size - 1, size=count, replace=False)
        return self.states[chosen], self.actions[chosen], self.rewards[chosen], self.states[chosen + 1]


def network():
    return tf.keras.Sequential([
        tf.keras.Input((8,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(3),
    ])


online, target = network(), network()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def update(states, actions, rewards, following):
    wanted = rewards + 0.99 * tf.reduce_max(target(following), axis=1)
    with tf.GradientTape() as tape:
        values = tf.gather(online(states), actions, batch_dims=1)
        loss = tf.reduce_mean(tf.square(values - wanted))
    grads = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(grads, online.trainable_variables))
    return loss


def main():
    np.random.seed(0)
    tf.random.set_seed(0)
    buffer = Buffer(SIZE, np.random.default_rng(0))
    total = 0.0
    for number in range(1, UPDATES + 1):
        batch = buffer.sample(BATCH)
        loss = update(*[tf.constant(part) for part in batch])
        total += float(loss)
        if number % 100 == 0:
            target.set_weights(online.get_weights())
            print(number, total / number)


main()
