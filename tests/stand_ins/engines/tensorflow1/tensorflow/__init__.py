"""As much of TensorFlow 1 as the hooks touch: sessions that make callables of graphs, and run them."""

from . import compat
from .python.client import session
from .python.data.ops import dataset_ops

__version__ = "1.15.5"


class config:
    class threading:
        @staticmethod
        def get_intra_op_parallelism_threads():
            return 0
