"""As much of MXNet as the hooks touch: symbols are bound to shapes, and blocks of Gluon hybridized."""

from . import engine, gluon, nd, profiler, sym
from . import module as mod

__version__ = "1.9.1"


class io:
    class DataBatch:
        def __init__(self, data):
            self.data = data
