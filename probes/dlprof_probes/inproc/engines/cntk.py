"""CNTK: which nodes of the graph each layer made, and its performance profiler, with the time of every node."""

import os
import sys
import weakref
from glob import glob

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet

_BYTES = 64 << 20
"""Room for events; a full one only ends the trace early, and says so."""


class CNTKTracer(Tracer):
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
        found = glob(os.path.join(self._folder, "*_detail_.json"))
        if not found:
            raise RuntimeError("the profiler wrote no trace")
        if self._nodes is not None:
            self._nodes.write()
        return found


class CNTK(Engine):
    """CNTK. It compiles a network when its first minibatch runs."""

    name = module = "cntk"
    tracer_class = CNTKTracer
    is_session_based = True

    def __init__(self, probe):
        super(CNTK, self).__init__(probe)
        self._nodes = None

    def is_ready(self, modules):
        """Whether CNTK is loaded to its end."""
        return hasattr(modules["cntk"], "Trainer") and hasattr(modules["cntk"], "__version__")

    def attach(self, module):
        """Note the version, and hook what compiles."""
        self.note_version(module)
        seen = weakref.WeakSet()

        def is_first(args):
            if args[0] in seen:
                return False
            seen.add(args[0])
            return True

        label = "first minibatch of a trainer"
        self.probe.graph_compile(module.Trainer, "train_minibatch", lambda _args: label, in_loops=True, when=is_first)
        self.probe.own_loops.sites.skip(os.path.dirname(module.__file__) + os.sep)
        self.probe.own_loops.updates(self, module.Trainer, "train_minibatch")

    def make_tracer(self):
        """Its profiler, which also writes the layers of the nodes that are known by then."""
        return CNTKTracer(self._nodes)

    def under_keras(self, keras):
        """Remember which nodes each layer made, for the traces."""
        if self.wants_kernels:
            self._nodes = Nodes(self.kernel_folder)
            self.take_windows()
            self.watch_layers(keras, self._nodes.called)

    def named_layers(self, model):
        """The named nodes of a function of CNTK."""
        if not hasattr(model, "root_function") or not self.wants_kernels:
            return None
        self._nodes = Nodes(self.kernel_folder)
        return [{"name": name, "class": ""} for name in self._nodes.named(model)]


class Nodes(object):
    """Names of nodes by layer. A node belongs to the first layer that was called and leads from it."""

    def __init__(self, folder):
        self._folder = folder
        self._owner = {}

    def called(self, layer, result):
        """A layer was called on symbols: the nodes behind its result that are new are its own."""
        waiting = list(result) if isinstance(result, (list, tuple)) else [result]
        while waiting:
            node = waiting.pop()
            node = getattr(node, "owner", node)  # of a variable, what made it
            uid = getattr(node, "uid", None)
            if uid is None or uid in self._owner:
                continue
            self._owner[uid] = layer.name
            if getattr(node, "is_composite", False):
                waiting.append(node.root_function)
            elif getattr(node, "is_block", False):
                waiting.append(node.block_root)
            waiting.extend(one for one in getattr(node, "inputs", ()) if one.is_output)

    def named(self, root):
        """A model without Keras: a node that has a name owns those behind it, up to the next ones that have."""
        waiting, seen = [(root, None)], set()
        while waiting:
            node, owner = waiting.pop()
            node = getattr(node, "owner", node)
            uid = getattr(node, "uid", None)
            if uid is None or uid in seen:
                continue
            seen.add(uid)
            owner = getattr(node, "name", None) or owner
            if owner:
                self._owner.setdefault(uid, owner)
            if getattr(node, "is_composite", False):
                waiting.append((node.root_function, owner))
            elif getattr(node, "is_block", False):
                waiting.append((node.block_root, owner))
            waiting.extend((one, owner) for one in getattr(node, "inputs", ()) if one.is_output)
        return sorted(set(self._owner.values()))

    def write(self):
        """Write what is known so far, beside the windows."""
        own_files.save(os.path.join(self._folder, "cntk-nodes.json"), wire.json_payload({"owner": self._owner}))
