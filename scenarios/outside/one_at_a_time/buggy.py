import numpy as np
from keras import layers, models, optimizers

np.random.seed(10)
X = np.random.rand(9000, 8)
Y = (X @ np.arange(8) > 14).astype(int)

model = models.Sequential([
    layers.Dense(12, activation="relu"),
    layers.Dense(8, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(loss="binary_crossentropy", optimizer=optimizers.Adam(0.001), metrics=["accuracy"])
hist = model.fit(X, Y, epochs=4, batch_size=1, validation_split=0.1, verbose=2)
print(hist.history["val_accuracy"][-1])
