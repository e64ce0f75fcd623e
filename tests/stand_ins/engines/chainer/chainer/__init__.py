"""As much of Chainer as the hooks touch: functions and links that call the hooks which were entered."""

from types import SimpleNamespace

from . import dataset, functions, links, optimizers
from .hooks import FunctionHook, LinkHook
from .optimizers import GradientMethod, Optimizer, UpdateRule

__version__ = "7.8.1"
config = SimpleNamespace(train=True, enable_backprop=True)
