"""Models: what is trained, saved and put together."""

import numpy

from keras.src import backend
from keras.src.layers import KerasTensor, Layer
from keras.src.trainers.trainer import Trainer


class Model(backend.trainer(), Trainer, Layer):
    def __new__(cls, *args, **kwargs):
        """With inputs and outputs, Model is Functional."""
        if cls is Model and (args or "inputs" in kwargs):
            from keras.src.models.functional import Functional

            return super().__new__(Functional)
        return super().__new__(cls)

    def __init__(self, *_args, name=None, **_kwargs):
        Trainer.__init__(self)
        Layer.__init__(self, name)

    @property
    def layers(self):
        return self._layers

    @property
    def trainable_weights(self):
        return [weight for layer in self.layers for weight in layer.trainable_weights]

    @trainable_weights.setter
    def trainable_weights(self, value):
        """A layer without weights of its own sets an empty list."""

    def call(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def get_weights(self):
        return [weight.value.copy() for weight in self.trainable_weights]

    def set_weights(self, values):
        for weight, value in zip(self.trainable_weights, values):
            weight.assign(value)

    def save_weights(self, path):
        with open(path, "wb") as target:
            numpy.savez(target, *self.get_weights())

    def load_weights(self, path):
        with numpy.load(path) as stored:
            self.set_weights([stored[name] for name in stored.files])

    def save(self, path):
        self.save_weights(path)

    def export(self, path):
        self.save_weights(path)


def layers_between(tensor):
    """The layers that made a symbolic tensor."""
    assert isinstance(tensor, KerasTensor)
    return list(tensor._keras_history)
