import time

import keras
import numpy as np
from keras import layers

N_FEATURES = 16
N_CLASSES = 5
EPOCHS = 3


def make_jets(n, seed):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(11).normal(size=(N_CLASSES, N_FEATURES))
    y = rng.integers(0, N_CLASSES, n)
    x = centers[y] + rng.normal(scale=1.5, size=(n, N_FEATURES))
    return x.astype("float32"), keras.utils.to_categorical(y, N_CLASSES)


def build_model():
    inputs = keras.Input((N_FEATURES,), name="jets")
    x = inputs
    for i, units in enumerate([64, 32, 32]):
        x = layers.Dense(units, name=f"fc{i + 1}")(x)
        x = layers.BatchNormalization(name=f"bn{i + 1}")(x)
        x = layers.Activation("relu", name=f"relu{i + 1}")(x)
    x = layers.Dense(N_CLASSES, name="output")(x)
    outputs = layers.Activation("softmax", name="softmax")(x)
    return keras.Model(inputs, outputs)


def make_intermediate(model):
    outputs = {layer.name: layer.output for layer in model.layers
               if not isinstance(layer, layers.InputLayer)}
    return keras.Model(model.inputs, outputs)


def get_ymodel_keras(intermediate, x):
    """Output of every layer for the given samples."""
    return intermediate.predict(x, batch_size=1024, verbose=0)


class RangeTracker(keras.callbacks.Callback):
    """Keeps the value range each layer needs, for choosing fixed point types."""

    def __init__(self, x, every=100):
        super().__init__()
        self.x = x
        self.every = every
        self.ranges = {}

    def on_train_begin(self, logs=None):
        self.intermediate = make_intermediate(self.model)

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every:
            return
        for name, y in get_ymodel_keras(self.intermediate, self.x).items():
            lo, hi = self.ranges.get(name, (np.inf, -np.inf))
            self.ranges[name] = (min(lo, float(y.min())), max(hi, float(y.max())))

    def on_epoch_end(self, epoch, logs=None):
        bits = {k: int(np.ceil(np.log2(max(abs(lo), abs(hi), 1e-6)))) + 1
                for k, (lo, hi) in self.ranges.items()}
        print(f"epoch {epoch + 1}: loss {logs['loss']:.4f} acc {logs['accuracy']:.4f} "
              f"integer bits {max(bits.values())}")


def main():
    keras.utils.set_random_seed(0)
    x_train, y_train = make_jets(20000, 0)
    x_profile, _ = make_jets(2000, 1)
    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3),
                  loss="categorical_crossentropy", metrics=["accuracy"])
    tracker = RangeTracker(x_profile)
    start = time.time()
    model.fit(x_train, y_train, batch_size=128, epochs=EPOCHS, verbose=0,
              callbacks=[tracker])
    print(f"training took {time.time() - start:.1f}s")
    for name, (lo, hi) in tracker.ranges.items():
        print(f"  {name:10s} [{lo:8.3f}, {hi:8.3f}]")


if __name__ == "__main__":
    main()
