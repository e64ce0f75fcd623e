"""Abacus inside the traced process: its phases, its steps, and its profiler. Standard library and Python 3.6 syntax."""

import os

from dlprof_probes import wire
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer


class AbacusTracer(Tracer):
    """Abacus' own profiler, whose clock is the run's."""

    zero_ns = 0

    def __init__(self, profiler):
        self._profiler = profiler
        self._path = None

    def start(self, folder):
        """Begin to trace."""
        self._path = os.path.join(folder, "operations.abacus")
        self._profiler.start(self._path)

    def stop(self):
        """End, and name the file."""
        self._profiler.stop()
        return [self._path]


class Abacus(Engine):
    """Abacus trains by itself: its trainer's methods are the phases."""

    name = module = "abacus"

    def is_ready(self, modules):
        """Whether Abacus is loaded to its end."""
        return hasattr(modules["abacus"], "profiler")

    def attach(self, module):
        """Note the version, and hook the trainer."""
        self.note_version(module)
        probe, trainer = self.probe, module.Trainer
        probe.span(trainer, "__init__", wire.SpanKind.CONSTRUCT, "Trainer")
        probe.loop(trainer, "fit", wire.SpanKind.FIT)
        probe.epoch(trainer, "run_epoch")
        probe.step(trainer, "run_step")
        probe.graph_compile(trainer, "make_plan", lambda args: "plan for %d rows" % args[1], signature=_signature)
        probe.windows.use(self.name, lambda: AbacusTracer(module.profiler))


def _signature(args):
    return id(args[0]), "Trainer", {"rows": "int[%d]" % args[1]}


ENGINE = Abacus
