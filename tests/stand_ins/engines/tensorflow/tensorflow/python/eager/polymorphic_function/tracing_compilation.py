import numpy


class Tensor:
    def __init__(self, values):
        self._values = numpy.asarray(values, "float32")
        self.shape = self._values.shape

    def numpy(self):
        return self._values

    def __mul__(self, other):
        return Tensor(self._values * other)

    def __add__(self, other):
        return Tensor(self._values + other)


class _Parameter:
    def __init__(self, shape):
        self.type_constraint = "TensorSpec(shape=%s, dtype=tf.float32, name=None)" % (shape,)


class _Type:
    def __init__(self, shape):
        self.parameters = {"value": _Parameter(shape)}


class _Options:
    def __init__(self, python_function):
        self.python_function = python_function
        self.name = python_function.__name__


class FuncGraph:
    def get_operations(self):
        return []


class ConcreteFunction:
    def __init__(self, function, name):
        self.graph = FuncGraph()
        self._function = function
        self.name = name

    def _call_flat(self, value):
        return self._function(value)


def trace(python_function, value):
    return _create_concrete_function(_Type(value.shape), None, None, _Options(python_function))


def _create_concrete_function(function_type, context, graph, options):
    return ConcreteFunction(options.python_function, options.name)
