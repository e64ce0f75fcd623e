import numpy as np
from keras import Input, Sequential
from keras.layers import Dense
from keras.optimizers import Adam

rng = np.random.default_rng(4)
model = Sequential([Input((5,)), Dense(10, activation="sigmoid"), Dense(2, activation="linear")])
model.compile(loss="mse", optimizer=Adam(0.01))
states = np.identity(5)


def move(s, a):
    if a == 0:
        return 0, 2
    return (4, 10) if s == 4 else (s + 1, 0)


eps = 0.5
for episode in range(6):
    s, total = 0, 0
    for _ in range(25):
        if rng.random() < eps:
            a = int(rng.integers(0, 2))
        else:
            a = int(np.argmax(model.predict_on_batch(states[s:s + 1])))
        after, reward = move(s, a)
        target = model.predict_on_batch(states[s:s + 1])[0]
        target[a] = reward + 0.95 * np.max(model.predict_on_batch(states[after:after + 1]))
        model.train_on_batch(states[s:s + 1], target.reshape(-1, 2))
        s, total = after, total + reward
    eps *= 0.9
    print("episode", episode, "reward", total)
