"""As much of Theano as the hooks touch: expressions, and functions that may keep a profile."""

from . import compile, config, tensor

__version__ = "1.0.5"


def scan(*_args):
    raise NotImplementedError


def function(inputs, outputs, name=None, profile=None, **_more):
    return compile.Function(outputs, name, profile)
