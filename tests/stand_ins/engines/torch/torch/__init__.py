"""As much of torch as the hooks touch: eager numbers in numpy, and a compiler that keeps what it compiled by shape."""

import numpy

from . import autograd, backends, cuda, nn, profiler

__version__ = "2.9.0"
_state = {"threads": 4, "deterministic": False}


class Tensor:
    def __init__(self, values):
        self.values = numpy.asarray(values, dtype="float32")
        self.shape = self.values.shape

    def __mul__(self, other):
        return Tensor(self.values * other)

    def __add__(self, other):
        return Tensor(self.values + other)

    def tolist(self):
        return self.values.tolist()


def ones(*shape):
    return Tensor(numpy.ones(shape))


def compile(function, backend=None, dynamic=None):
    from ._dynamo import convert_frame

    made = {}

    def run(value):
        if value.shape not in made:
            made[value.shape] = convert_frame.compiled(function, made)
        return made[value.shape](value)

    return run


def get_num_threads():
    return _state["threads"]


def set_num_threads(count):
    _state["threads"] = count


def is_anomaly_enabled():
    return autograd.state["anomaly"]


def use_deterministic_algorithms(mode):
    _state["deterministic"] = mode


def are_deterministic_algorithms_enabled():
    return _state["deterministic"]
