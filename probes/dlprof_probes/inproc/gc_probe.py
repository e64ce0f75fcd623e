"""Garbage collections: long ones singly, short ones as sums."""

import gc
from gc import disable, enable, isenabled

from dlprof_probes.inproc.clock import now

LONG_NS = 200 * 1000


class held_back(object):  # noqa: N801
    """No collection starts meanwhile: one that our own allocations set off would be charged to us, or to a line."""

    def __enter__(self):
        self._was_on = isenabled()
        disable()

    def __exit__(self, *_):
        if self._was_on:
            enable()


class GcProbe(object):
    """Counts collections through `gc.callbacks`."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._start = 0
        self.count = [0, 0, 0]
        self.total_ns = [0, 0, 0]

    def install(self):
        """Begin to count."""
        gc.callbacks.append(self._collected)

    def _collected(self, phase, info):
        if phase == "start":
            self._start = now()
            return
        if not self._start:
            return  # it had begun before the probe came into a process that ran already
        spent = now() - self._start
        generation = info["generation"]
        self.count[generation] += 1
        self.total_ns[generation] += spent
        if spent > LONG_NS:
            self._recorder.collection(self._start, spent, generation, info["collected"])

    def remove(self):
        """Count no more."""
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)

    def finish(self):
        """Stop counting and record the sums."""
        self.remove()
        self._recorder.meta({"gc": {"count": self.count, "total_ns": self.total_ns}})
