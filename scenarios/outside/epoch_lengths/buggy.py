import numpy as np
from keras import layers, models

rng = np.random.RandomState(4)
signals = rng.rand(640, 64, 2).astype("float32")
labels = (signals[:, :32, 0].mean(1) > signals[:, 32:, 0].mean(1)).astype("float32")
BATCH = 20


def batches():
    while True:
        for i in range(0, len(signals), BATCH):
            yield signals[i:i + BATCH], labels[i:i + BATCH]


model = models.Sequential([
    layers.Input((64, 2)),
    layers.Conv1D(16, 5, activation="relu"),
    layers.MaxPooling1D(2),
    layers.Conv1D(32, 5, activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(batches(), steps_per_epoch=len(signals), epochs=6, verbose=2)
