import random

import numpy as np
from keras.layers import Dense, Input
from keras.models import Sequential

random.seed(30)
np.random.seed(30)
STATES = 4


class Corridor:
    """Walk right to the goal; each step costs a little."""

    def reset(self):
        self.at = 0
        return self.at

    def step(self, action):
        self.at = max(0, self.at + (1 if action == 1 else -1))
        done = self.at == STATES - 1
        return self.at, (1.0 if done else -0.05), done


def one_hot(s):
    return np.identity(STATES)[s:s + 1]


model = Sequential()
model.add(Input(shape=(STATES,)))
model.add(Dense(12, activation="sigmoid"))
model.add(Dense(2, activation="linear"))
model.compile(loss="mse", optimizer="adam", metrics=["mae"])

env, eps, rewards = Corridor(), 1.0, []
for episode in range(6):
    s, done, total, steps = env.reset(), False, 0.0, 0
    eps *= 0.95
    while not done and steps < 15:
        if random.random() < eps:
            a = random.randint(0, 1)
        else:
            a = int(np.argmax(model.predict(one_hot(s), verbose=0)))
        nxt, r, done = env.step(a)
        goal = r + 0.95 * float(np.max(model.predict(one_hot(nxt), verbose=0)))
        q = model.predict(one_hot(s), verbose=0)[0]
        q[a] = goal
        model.fit(one_hot(s), q.reshape(-1, 2), epochs=1, verbose=0)
        s, total, steps = nxt, total + r, steps + 1
    rewards.append(total)
print(np.round(rewards, 2))
