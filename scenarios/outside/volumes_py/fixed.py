import os
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)
root = tempfile.mkdtemp()
paths, labels = [], []
for i in range(192):
    volume = rng.normal(size=(36, 36, 36)).astype(np.float32)
    if i % 2:
        volume[10:20, 10:20, 10:20] += 2
    paths.append(os.path.join(root, f"scan{i}.npy"))
    np.save(paths[-1], volume)
    labels.append(float(i % 2))


def load_scan(path, label):
    scan = np.load(path.numpy().decode())
    zs, ys, xs = np.where(scan > np.percentile(scan, 20))
    scan = scan[zs.min():zs.max() + 1, ys.min():ys.max() + 1, xs.min():xs.max() + 1]
    scan = (scan - scan.mean()) / scan.std()
    return np.resize(scan, (36, 36, 36, 1)).astype(np.float32), label


def wrapper(path, label):
    scan, label = tf.py_function(load_scan, [path, label], [tf.float32, tf.float32])
    scan.set_shape((36, 36, 36, 1))
    label.set_shape(())
    return scan, label


data = tf.data.Dataset.from_tensor_slices((paths, labels))
data = data.map(wrapper, num_parallel_calls=4).cache().shuffle(192, seed=2).batch(16).prefetch(2)

model = tf.keras.Sequential([
    tf.keras.layers.Conv3D(4, 3, strides=2, activation="relu"),
    tf.keras.layers.GlobalAveragePooling3D(),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(data, epochs=20, verbose=2)
