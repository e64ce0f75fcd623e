import glob
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

IMG, N, EPOCHS = 64, 256, 16
folder = tempfile.mkdtemp(prefix="shapes")
rng = np.random.RandomState(9)
for i in range(N):
    img = rng.randint(0, 90, (280, 280, 3)).astype("uint8")
    if i % 2:
        img[80:200, 80:200] += 120
    tf.io.write_file(os.path.join(folder, "%d_%04d.png" % (i % 2, i)), tf.io.encode_png(img, compression=1))


def load(path):
    label = tf.strings.to_number(tf.strings.substr(tf.strings.split(path, os.sep)[-1], 0, 1))
    img = tf.io.decode_png(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (IMG, IMG)) / 255.0, label


files = sorted(glob.glob(folder + "/*.png"))
train = tf.data.Dataset.from_tensor_slices(files).map(load)
train = train.shuffle(200, seed=9).batch(32)

model = keras.Sequential([
    keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    keras.layers.MaxPooling2D(),
    keras.layers.Conv2D(16, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=EPOCHS, verbose=2)
for f in files:
    os.remove(f)
os.rmdir(folder)
