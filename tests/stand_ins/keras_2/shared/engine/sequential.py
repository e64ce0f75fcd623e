"""A model of one layer after the other."""

from keras.engine.base_layer import Tensor
from keras.engine.training import Model


class Sequential(Model):
    def __init__(self, layers=None, name=None):
        super(Sequential, self).__init__(name=name)
        for layer in layers or ():
            self.add(layer)

    def add(self, layer):
        if isinstance(layer, Tensor):
            self._shape = layer.shape
            return
        self._shape = layer(Tensor(self._shape)).shape
        self._layers.append(layer)
