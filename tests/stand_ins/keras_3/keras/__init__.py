"""A stand-in for Keras 3: small, of NumPy only, with the parts that the probe hooks and the ways they call each other."""

from keras import backend, callbacks, config, datasets, layers, models, ops, optimizers, saving, utils
from keras.src.layers import Input
from keras.src.models.model import Model
from keras.src.models.sequential import Sequential

__version__ = "3.0.0+stand.in"

__all__ = [
    "Input", "Model", "Sequential", "backend", "callbacks", "config", "datasets", "layers", "models", "ops",
    "optimizers", "saving", "utils",
]  # fmt: skip
