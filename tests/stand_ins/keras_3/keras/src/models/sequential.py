"""A model of one layer after the other."""

from keras.src.layers import KerasTensor
from keras.src.models.model import Model


class Sequential(Model):
    def __init__(self, layers=(), name=None):
        super().__init__(name=name)
        self._layers = []
        self._shape = None
        for layer in layers:
            self.add(layer)

    def add(self, layer):
        if isinstance(layer, KerasTensor):
            self._shape = layer.shape
            return
        if self._shape is not None:
            self._shape = layer(KerasTensor(self._shape)).shape
        self._layers.append(layer)
