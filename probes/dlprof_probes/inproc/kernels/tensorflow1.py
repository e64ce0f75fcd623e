"""The tracer of TensorFlow 1: sessions tell the operators of a run, if they are asked to."""

import os
import sys

from dlprof_probes.inproc.kernels.tracer import Tracer, quiet

SOFTWARE_TRACE, FULL_TRACE = 1, 3
"""Trace levels of RunOptions. The first leaves GPUs out, and the profiler that logs each of its sessions."""


class TensorFlow1(Tracer):
    """Asks the sessions for the RunMetadata of what runs in a window.

    Args:
        sessions: `hooks.tensorflow1.Sessions`.
    """

    def __init__(self, sessions):
        self._sessions = sessions
        self._folder = None

    def start(self, folder):
        """Begin to collect."""
        self._folder = folder
        level = FULL_TRACE if self.gpu and self._has_gpu() else SOFTWARE_TRACE
        with quiet():
            self._sessions.collect(level)

    def stop(self):
        """End, write, and name the file. Messages put one behind the other are one message, by the format."""
        path = os.path.join(self._folder, "steps.runmeta.pb")
        found = self._sessions.collected()
        if not found:
            raise RuntimeError("no session ran in the window")
        with open(path, "wb") as out:
            for message in found:
                out.write(message)
        return [path]

    def _has_gpu(self):
        module = sys.modules.get("tensorflow.python.client.device_lib")
        return any(device.device_type == "GPU" for device in module.list_local_devices()) if module else False
