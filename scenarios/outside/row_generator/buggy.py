import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
table = rng.normal(size=(6000, 30)).astype("float32")
price = (table[:, :5].sum(axis=1) + rng.normal(scale=0.1, size=6000)).astype("float32")


def rows():
    for i in rng.permutation(len(table)):
        yield table[i], price[i]


ds = tf.data.Dataset.from_generator(
    rows,
    output_signature=(tf.TensorSpec((30,), tf.float32), tf.TensorSpec((), tf.float32)),
).batch(128).prefetch(2)

inputs = keras.Input(shape=(30,))
x = layers.Dense(64, activation="relu")(inputs)
x = layers.Dense(64, activation="relu")(x)
model = keras.Model(inputs, layers.Dense(1)(x))
model.compile(optimizer="adam", loss="mse")
model.fit(ds, epochs=2, verbose=2)
