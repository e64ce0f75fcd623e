"""All that the process knows of engines: one file each (`base.py` is their interface), and those of plug-ins."""

import importlib.util
import sys

from dlprof_probes.inproc import facts
from dlprof_probes.inproc.engines.base import Attachment, Engine
from dlprof_probes.inproc.engines.caffe2 import Caffe2
from dlprof_probes.inproc.engines.chainer import Chainer
from dlprof_probes.inproc.engines.cntk import CNTK
from dlprof_probes.inproc.engines.jax import Jax
from dlprof_probes.inproc.engines.mxnet import MXNet
from dlprof_probes.inproc.engines.openvino import OpenVINO
from dlprof_probes.inproc.engines.tensorflow import TensorFlow
from dlprof_probes.inproc.engines.tensorflow1 import TensorFlow1
from dlprof_probes.inproc.engines.theano import Theano
from dlprof_probes.inproc.engines.torch import Torch

CLASSES = (Torch, Jax, TensorFlow, TensorFlow1, MXNet, Theano, CNTK, Chainer, Caffe2, OpenVINO)
"""In the order in which one is taken to be meant, where a script without Keras loads several."""
_PLUGGED_IN = "dlprof_probes.inproc.engines.plugged_in."


class Engines(object):
    """The engines of one process, an instance of each class.

    Args:
        probe: `Probe`.
        classes: Subclasses of `Engine`, those that are meant before others first.

    Attributes:
        attachments: What waits for the engines' modules: a list of `Attachment` whose functions cannot raise.
    """

    def __init__(self, probe, classes=CLASSES):
        self._engines = []
        self.attachments = []
        for made in [probe.guard(cls)(probe) for cls in classes]:
            waiting = made and probe.guard(made.attachments)()
            if waiting:
                self._engines.append(made)
                self.attachments.extend(_guarded(probe, made, one) for one in waiting)
        # The version that is noted last counts: that of the engine which is meant before the others.
        self.attachments.reverse()

    def loaded(self):
        """The engines whose modules are there, in order: a list of pairs of engine and module."""
        pairs = ((engine, sys.modules.get(engine.module)) for engine in self._engines)
        return [(engine, module) for engine, module in pairs if module is not None and engine.speaks_of(module)]

    def array_types(self):
        """Classes of arrays of the engines that are loaded, as far as they have any."""
        told = (facts.quiet(lambda e=engine, m=module: e.array_types(m)) for engine, module in self.loaded())
        return [kind for kinds in told if kinds for kind in kinds]

    def worker_called(self, module):
        """What a process is called that begins with a function of this module; None: it is no engine's worker."""
        pairs = (pair for engine in self._engines for pair in engine.workers)
        return next((called for begins, called in pairs if begins == module), None)

    def find(self, name):
        """The engine of that module, as the version that is loaded asks for, or of that name; None: not known."""
        module = sys.modules.get(name)
        for engine in self._engines:
            if engine.module == name and engine.speaks_of(module):
                return engine
        return next((engine for engine in self._engines if engine.name == name), None)


def _guarded(probe, engine, attachment):
    def is_ready(modules):
        return engine.speaks_of(modules.get(engine.module)) and attachment.is_ready(modules)

    return Attachment(attachment.module, probe.guard(is_ready, False), probe.guard(attachment.attach))


def plugged_in(files, recorder):
    """The engines of plug-ins; one that cannot be loaded is noted, and passed over.

    Args:
        files: Dict from the engine's name to the path of its file.
        recorder: `Recorder`.

    Returns:
        list: Subclasses of `Engine`.
    """
    classes = []
    for name, path in sorted(files.items()):
        try:
            classes.append(_load(_PLUGGED_IN + name, path))
        except (Exception, SystemExit) as error:
            text = "The engine plug-in %s cannot be loaded: %s: %s" % (name, type(error).__name__, error)
            recorder.note("engine-plugin-failed", text)
    return classes


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if not (isinstance(module.ENGINE, type) and issubclass(module.ENGINE, Engine)):
        raise TypeError("ENGINE is no subclass of Engine")
    return module.ENGINE
