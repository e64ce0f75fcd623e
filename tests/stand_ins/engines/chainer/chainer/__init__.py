"""As much of Chainer as the hooks touch: functions and links that call the hooks which were entered."""

from . import functions, links, optimizers
from .hooks import FunctionHook, LinkHook
from .optimizers import UpdateRule

__version__ = "7.8.1"
