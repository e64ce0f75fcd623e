"""A plug-in's half in the traced process, for an engine with training loops of its own."""

import json
import os

from dlprof_probes import wire
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer


class AbacusTracer(Tracer):
    """Writes when it was on."""

    zero_ns = 0

    def start(self, folder):
        self._path = os.path.join(folder, "beads.json")

    def stop(self):
        with open(self._path, "w") as target:
            json.dump({"beads": [1, 2]}, target)
        return [self._path]


class Abacus(Engine):
    """Trains on batches in `Trainer.fit`."""

    name = module = "abacus"
    tracer_class = AbacusTracer
    switches = (("abacus.careful", lambda abacus: abacus.careful),)

    def is_ready(self, modules):
        return hasattr(modules["abacus"], "Trainer")

    def attach(self, module):
        self.note_version(module)
        self.take_windows()
        self.probe.loop(module.Trainer, "fit", wire.SpanKind.FIT)
        self.probe.epoch(module.Trainer, "run_epoch")
        self.probe.step(module.Trainer, "train")
        self.probe.graph_compile(module, "string_beads", lambda args: "string %d" % args[0])


ENGINE = Abacus
