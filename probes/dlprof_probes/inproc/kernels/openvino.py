"""The tracer of OpenVINO: it tells how long each node of a compiled model took, but not when."""

import json
import os

from dlprof_probes.inproc.kernels.tracer import Tracer

FORMAT = "dlprof.openvino/1"


class OpenVINO(Tracer):
    """Has models that count run in a window.

    Args:
        models: `hooks.openvino.Models`.
    """

    def __init__(self, models):
        self.zero_ns = 0
        self._models = models
        self._folder = None

    def start(self, folder):
        """Begin to collect."""
        self._folder = folder
        self._models.collect()

    def stop(self):
        """End, write, and name the file."""
        calls = self._models.collected()
        if not calls:
            raise RuntimeError("no model ran in the window")
        path = os.path.join(self._folder, "nodes.json")
        nodes = {node[0] for _, _, nodes in calls for node in nodes}
        owner = dict((name, layer) for name, layer in self._models.owner.items() if name in nodes)
        with open(path, "w") as target:
            json.dump({"format": FORMAT, "owner": owner, "calls": calls}, target)
        return [path]
