"""A model between symbolic tensors."""

from keras.src.models.model import Model, layers_between


class Functional(Model):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self.inputs, self.outputs = inputs, outputs
        self._layers = layers_between(outputs)
