import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import numpy as np
from keras import Sequential, layers, utils

utils.set_random_seed(6)
n = 160
images = np.random.rand(n, 96, 96, 3).astype("float32")
labels = np.random.randint(0, 4, n)
for k in range(4):
    images[labels == k, k * 20:k * 20 + 16] += 1.0

model = Sequential()
model.add(layers.Conv2D(16, (3, 3), activation="relu"))
model.add(layers.MaxPooling2D(2))
model.add(layers.Conv2D(16, (3, 3), activation="relu"))
model.add(layers.MaxPooling2D(4))
model.add(layers.Flatten())
model.add(layers.Dense(128, activation="relu"))
model.add(layers.Dropout(0.5))
model.add(layers.Dense(4, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(images, labels, batch_size=32, epochs=2, verbose=2)
print(model.count_params(), "parameters")
