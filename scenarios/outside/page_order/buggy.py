import os
import tempfile

import h5py
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.RandomState(8)
path = os.path.join(tempfile.mkdtemp(prefix="features"), "features.h5")
with h5py.File(path, "w") as out:
    data = rng.rand(8000, 200).astype("float32")
    out.create_dataset("x", data=data, chunks=(100, 200), compression="gzip", compression_opts=1)
    out.create_dataset("y", data=(data[:, :100].sum(1) > data[:, 100:].sum(1)).astype("float32"))


class Features(keras.utils.PyDataset):
    def __init__(self, path, batch_size):
        super().__init__()
        self.file = h5py.File(path, "r")
        self.batch_size = batch_size
        self.order = np.random.permutation(len(self.file["y"]))

    def __len__(self):
        return len(self.order) // self.batch_size

    def __getitem__(self, i):
        rows = np.sort(self.order[i * self.batch_size:(i + 1) * self.batch_size])
        return self.file["x"][rows], self.file["y"][rows]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


model = keras.Sequential([layers.Input((200,)), layers.Dense(64, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(Features(path, 80), epochs=3, verbose=2)
os.remove(path)
os.rmdir(os.path.dirname(path))
