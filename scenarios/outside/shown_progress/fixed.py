"""A Keras model on MXNet with a progress line of our own."""

import keras
import numpy as np
from keras.layers import Dense

ROWS, EPOCHS = 24000, 3


class Progress(keras.callbacks.Callback):
    """Shows the mean of each metric so far."""

    def on_train_begin(self, logs=None):
        self.values = {}
        self.count = 0
        self.line = ""

    def show(self):
        self.line = "  ".join("%s %.4f" % (name, total / self.count) for name, total in sorted(self.values.items()))

    def on_batch_end(self, batch, logs=None):
        for name, value in logs.items():
            if name not in ("batch", "size"):
                self.values[name] = self.values.get(name, 0.0) + float(value)
        self.count += 1
        self.show()

    def on_epoch_end(self, epoch, logs=None):
        print(epoch, self.line)


def main():
    np.random.seed(0)
    x = np.random.normal(size=(ROWS, 30)).astype("float32")
    y = (x[:, :1] + x[:, 1:2] > 0).astype("float32")
    model = keras.models.Sequential()
    model.add(Dense(64, activation="relu", input_shape=(30,)))
    model.add(Dense(64, activation="relu"))
    model.add(Dense(1, activation="sigmoid"))
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy", "mae", "mse"])
    model.fit(x, y, batch_size=16, epochs=EPOCHS, verbose=0, callbacks=[Progress()])


main()
