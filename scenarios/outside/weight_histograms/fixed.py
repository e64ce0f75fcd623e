import shutil
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(21)
rng = np.random.RandomState(21)
x = rng.rand(1500, 20).astype("float32")
y = (x @ np.linspace(-1, 1, 20)).astype("float32")

model = keras.Sequential([layers.Input((20,))] + [layers.Dense(96, activation="relu") for _ in range(12)] + [layers.Dense(1)])
model.compile("adam", "mse")
logs = tempfile.mkdtemp(prefix="runs")
board = keras.callbacks.TensorBoard(logs)
history = model.fit(x, y, batch_size=100, epochs=60, callbacks=[board], verbose=0)
print("loss", round(history.history["loss"][-1], 4))
shutil.rmtree(logs)
