"""Layers: called on tensors without data they put a model together."""

import numpy

_COUNTS = {}


class Tensor(object):
    """A tensor without data."""

    def __init__(self, shape, history=()):
        self.shape = shape
        self._keras_shape = shape
        self._keras_history = history


class Variable(object):
    regularizer = None
    dtype = "float32"

    def __init__(self, value):
        self.value = value
        self.gradient = numpy.zeros_like(value)

    @property
    def shape(self):
        return self.value.shape


def Input(shape):
    return Tensor((None,) + tuple(shape))


class Layer(object):
    def __init__(self, name=None):
        kind = type(self).__name__.lower()
        _COUNTS[kind] = _COUNTS.get(kind, 0) + 1
        self.name = name or "%s_%d" % (kind, _COUNTS[kind])
        self.built = False
        self.trainable_weights = []

    def build(self, shape):
        """Nothing, unless a subclass has weights."""

    def __call__(self, inputs):
        if not self.built:
            self.build(inputs.shape)
            self.built = True
        return Tensor(self.compute_output_shape(inputs.shape), inputs._keras_history + (self,))

    def compute_output_shape(self, shape):
        return shape

    def call(self, inputs):
        return inputs

    def backward(self, gradient):
        return gradient


class Dense(Layer):
    def __init__(self, units, name=None):
        super(Dense, self).__init__(name)
        self.units = units

    def build(self, shape):
        self.kernel = Variable(numpy.full((shape[-1], self.units), 0.5, dtype="float32"))
        self.bias = Variable(numpy.zeros(self.units, dtype="float32"))
        self.trainable_weights = [self.kernel, self.bias]

    def compute_output_shape(self, shape):
        return shape[:-1] + (self.units,)

    def call(self, inputs):
        self._inputs = inputs
        return inputs @ self.kernel.value + self.bias.value

    def backward(self, gradient):
        self.kernel.gradient = self._inputs.T @ gradient
        self.bias.gradient = gradient.sum(axis=0)
        return gradient @ self.kernel.value.T
