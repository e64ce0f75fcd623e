"""The tracer of CNTK: its performance profiler, with the time of every node."""

import glob
import os
import sys

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet

_BYTES = 64 << 20
"""Room for events; a full one only ends the trace early, and says so."""


class CNTK(Tracer):
    """CNTK's profiler. Its clock begins when it is enabled.

    The timing of nodes cannot be switched off again; without the profiler it costs next to nothing.

    Args:
        nodes: Has `write`, which tells the layers of the nodes; None: nothing knows them.
    """

    def __init__(self, nodes=None):
        self._nodes = nodes
        self._core = sys.modules["cntk"].cntk_py
        self._folder = None

    def start(self, folder):
        """Begin to trace."""
        self._folder = folder
        self._core.enable_node_timing()
        with quiet():
            self._core.start_profiler(folder, self.gpu, _BYTES)
            before = now()
            self._core.enable_profiler()
            self.zero_ns = (before + now()) // 2

    def stop(self):
        """End, and name the file."""
        self._core.stop_profiler()
        found = glob.glob(os.path.join(self._folder, "*_detail_.json"))
        if not found:
            raise RuntimeError("the profiler wrote no trace")
        if self._nodes is not None:
            self._nodes.write()
        return found
