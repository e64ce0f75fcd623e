"""A stand-in for Keras 2.3: what differs between 2.2 and 2.3 is in this folder, the rest is in `shared`."""

import os

__path__.append(os.path.join(os.path.dirname(__file__), "..", "..", "shared"))

from keras import backend, callbacks, datasets, layers, models, optimizers, preprocessing, utils
from keras.engine.base_layer import Input
from keras.models import Model, Sequential

__version__ = "2.3.0+stand.in"

__all__ = [
    "Input", "Model", "Sequential", "backend", "callbacks", "datasets", "layers", "models", "optimizers",
    "preprocessing", "utils",
]  # fmt: skip
