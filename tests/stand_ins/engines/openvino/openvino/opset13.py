import numpy


class _Type:
    def get_type_name(self):
        return "f32"


class Node:
    def __init__(self, kind, name, compute, shape=None, inputs=()):
        self.kind, self.name, self.compute, self.shape = kind, name, compute, shape
        self.inputs = inputs

    def get_element_type(self):
        return _Type()

    def get_partial_shape(self):
        return "[%s]" % ",".join(str(length) for length in self.shape)

    def get_node(self):
        return self

    def get_friendly_name(self):
        return self.name

    def get_type_name(self):
        return self.kind

    def input_values(self):
        return list(self.inputs)


def parameter(shape, kind, name):
    return Node("Parameter", name, lambda values: values[0], shape)


def constant(values, kind):
    return Node("Constant", "Constant_0", lambda _values: numpy.asarray(values, kind))


def multiply(one, other):
    return Node(
        "Multiply", "Multiply_1", lambda values: one.compute(values) * other.compute(values), None, (one, other)
    )
