"""Layers: called on tensors without data they put a model together, on arrays they compute."""

import numpy

_COUNTS = {}


def _name_of(made):
    kind = type(made).__name__.lower()
    _COUNTS[kind] = _COUNTS.get(kind, 0) + 1
    return kind if _COUNTS[kind] == 1 else "%s_%d" % (kind, _COUNTS[kind] - 1)


class KerasTensor:
    """A tensor without data."""

    def __init__(self, shape, history=()):
        self.shape = shape
        self._keras_history = history


class Variable:
    regularizer = None
    dtype = "float32"

    def __init__(self, value):
        self.value = value
        self.gradient = numpy.zeros_like(value)

    @property
    def shape(self):
        return self.value.shape

    def assign(self, value):
        self.value = numpy.asarray(value, dtype="float32")


def Input(shape):
    return KerasTensor((None, *shape))


class Layer:
    def __init__(self, name=None):
        self.name = name or _name_of(self)
        self.built = False
        self.trainable_weights = []

    def build(self, shape):
        """Nothing, unless a subclass has weights."""

    def __call__(self, *args, **kwargs):
        inputs = args[0]
        if not self.built:
            self.build(inputs.shape)
            self.built = True
        if isinstance(inputs, KerasTensor):
            return KerasTensor(self.compute_output_shape(inputs.shape), (*inputs._keras_history, self))
        return self.call(*args, **kwargs)

    def compute_output_shape(self, shape):
        return shape

    def call(self, inputs):
        return inputs

    def backward(self, gradient):
        return gradient


class Dense(Layer):
    def __init__(self, units, name=None):
        super().__init__(name)
        self.units = units

    def build(self, shape):
        self.kernel = Variable(numpy.full((shape[-1], self.units), 0.5, dtype="float32"))
        self.bias = Variable(numpy.zeros(self.units, dtype="float32"))
        self.trainable_weights = [self.kernel, self.bias]

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.units)

    def call(self, inputs):
        self._inputs = inputs
        return inputs @ self.kernel.value + self.bias.value

    def backward(self, gradient):
        self.kernel.gradient = self._inputs.T @ gradient
        self.bias.gradient = gradient.sum(axis=0)
        return gradient @ self.kernel.value.T
