import time

import numpy as np
import tensorflow as tf

BATCH_SIZE = 64
EPISODES = 18
STEPS_PER_EPISODE = 60
NOISE_DIM = 32


class QNetwork(tf.keras.Model):
    def __init__(self, num_actions):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(128, activation="relu") for _ in range(4)]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(4)]
        self.value = tf.keras.layers.Dense(1)
        self.advantage = tf.keras.layers.Dense(num_actions)

    def call(self, x):
        for dense, norm in zip(self.hidden, self.norms):
            x = norm(dense(x))
        adv = self.advantage(x)
        return self.value(x) + adv - tf.reduce_mean(adv, axis=1, keepdims=True)


class Agent:
    def __init__(self, num_actions=6):
        self.num_actions = num_actions
        self.online = QNetwork(num_actions)
        self.target = QNetwork(num_actions)
        self.optimizer = tf.keras.optimizers.Adam(1e-3)
        x = tf.zeros((1, NOISE_DIM))
        self.online(x)
        self.target(x)
        self.target.set_weights(self.online.get_weights())
        self.optimizer.build(self.online.trainable_variables)

    @tf.function
    def train_step(self, states, actions, rewards, next_states, epsilon):
        best = tf.argmax(self.online(next_states), axis=1)
        q_next = self.target(next_states)
        q_best = tf.reduce_sum(q_next * tf.one_hot(best, self.num_actions), axis=1)
        q_soft = (1.0 - epsilon) * q_best + epsilon * tf.reduce_mean(q_next, axis=1)
        y = rewards + 0.97 * q_soft
        with tf.GradientTape() as tape:
            q = self.online(states)
            q_taken = tf.reduce_sum(q * tf.one_hot(actions, self.num_actions), axis=1)
            loss = tf.reduce_mean(tf.keras.losses.huber(y[:, None], q_taken[:, None]))
        variables = self.online.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss

    def sync_target(self):
        for t, o in zip(self.target.variables, self.online.variables):
            t.assign(o)


class ReplayBuffer:
    def __init__(self, size, num_actions, seed=0):
        self.rng = np.random.default_rng(seed)
        self.states = self.rng.normal(size=(size, NOISE_DIM)).astype("float32")
        self.next_states = np.roll(self.states, -1, axis=0)
        self.actions = self.rng.integers(0, num_actions, size).astype("int32")
        self.rewards = np.tanh(self.states[:, :num_actions][np.arange(size), self.actions])

    def sample(self, n):
        idx = self.rng.integers(0, len(self.states), n)
        batch = (self.states[idx], self.actions[idx], self.rewards[idx], self.next_states[idx])
        return [tf.convert_to_tensor(b) for b in batch]


def main():
    tf.keras.utils.set_random_seed(1)
    agent = Agent()
    memory = ReplayBuffer(10000, agent.num_actions)
    epsilon = 1.0
    start = time.time()
    for episode in range(EPISODES):
        losses = []
        for _ in range(STEPS_PER_EPISODE):
            loss = agent.train_step(*memory.sample(BATCH_SIZE), tf.constant(epsilon))
            losses.append(float(loss))
        agent.sync_target()
        epsilon = max(0.05, epsilon * 0.9)
        print(f"episode {episode + 1}: loss {np.mean(losses):.4f} "
              f"epsilon {epsilon:.3f} elapsed {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
