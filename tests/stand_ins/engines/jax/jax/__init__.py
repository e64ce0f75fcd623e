"""As much of JAX as the hooks touch: functions are compiled by the shapes of their arguments."""

import numpy

from . import monitoring, profiler
from ._src import array as _array
from ._src import callback as _callback
from ._src import distributed as _distributed
from ._src import pjit

__version__ = "0.10.0"
arrays = []


class Config:
    jax_debug_nans = jax_debug_infs = jax_disable_jit = jax_check_tracer_leaks = False

    def update(self, name, value):
        setattr(self, name, value)


config = Config()


class Array:
    def __init__(self, values):
        self._values = values
        self.deleted = False
        self.waited = 0
        arrays.append(self)

    def __array__(self, *_args, **_more):
        return self._values

    def is_deleted(self):
        return self.deleted

    def block_until_ready(self):
        self.waited += 1


def live_arrays():
    return list(arrays)


def jit(function):
    made = set()

    def run(value):
        if value.shape not in made:
            made.add(value.shape)
            pjit.trace(function, "float32%s" % list(value.shape))
            monitoring.tell("/jax/core/compile/jaxpr_trace_duration", 0.001, fun_name=function.__name__)
            module = "jit_%s" % function.__name__
            monitoring.tell("/jax/core/compile/jaxpr_to_mlir_module_duration", 0.0005, fun_name=module)
            name = "jit(%s)" % function.__name__
            monitoring.tell("/jax/core/compile/backend_compile_duration", 0.002, fun_name=name)
        return Array(function(numpy.asarray(value)))

    return run
