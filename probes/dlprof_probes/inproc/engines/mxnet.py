"""MXNet: binding a module to shapes compiles its graph; the bound graphs are kept for attribution; its profiler."""

import os
import re
import sys
import weakref
from io import open as open_file
from json import loads
from os import makedirs

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.engines import mxnet_by_hand, mxnet_loaders, mxnet_modules, mxnet_unused
from dlprof_probes.inproc.engines.base import Engine, size_of, weights_told
from dlprof_probes.inproc.kernels.tracer import Tracer, quiet

_READS = (
    ("asnumpy", "asnumpy()"), ("asscalar", "asscalar()"), ("wait_to_read", "wait_to_read()"), ("__bool__", "bool()"),
    ("__float__", "float()"), ("__int__", "int()"),
)  # fmt: skip
"""What brings values of an array to the host, or waits for them."""
_BULKS = ("MXNET_EXEC_BULK_EXEC_TRAIN", "MXNET_EXEC_BULK_EXEC_INFERENCE")
"""MXNet reads them each time that it binds a graph."""
_affinity = getattr(os, "sched_getaffinity", None)
_PLANNED = re.compile(r"Total (\d+) MB allocated")
_TIME_STEP = re.compile(r"_t\d+_.*")
"""Behind the name of a cell that is unrolled, in those of what it makes for each time step."""
_PLAN = "values between the operators of the largest bound graph: MXNet's plan, in whole MiB"


class MXNetTracer(Tracer):
    """MXNet's profiler.

    MXNet runs several operators as one, and then the profiler sees one. So for the window each bound graph is
    bound once more to the same arrays, operator by operator; after it the first one takes over again.

    Args:
        graphs: `_Graphs` of the modules that are bound, or None.
        blocks: `_Blocks` of Gluon that are hybridized, or None.
    """

    def __init__(self, graphs, blocks=None):
        self._mxnet = sys.modules["mxnet"]
        self._kept = [one for one in (graphs, blocks) if one is not None]
        self._modules = graphs.in_use if graphs is not None else list
        self._blocks = blocks.in_use if blocks is not None else list
        self._path = None
        self._swapped = []
        self._cached = []
        self._bulk_size = None
        self._environment = {}

    def drain(self):
        """Wait for the engine."""
        self._mxnet.nd.waitall()

    def start(self, folder):
        """Begin to trace."""
        self._path = os.path.join(folder, "profile.json")
        self._write_graphs()
        with quiet():
            self._unbulk()
        self._bulk_size = self._mxnet.engine.set_bulk_size(0)  # of what Gluon runs one by one
        profiler = self._mxnet.profiler
        profiler.set_config(
            filename=self._path,
            profile_symbolic=True,
            profile_imperative=True,
            profile_api=True,
            profile_memory=False,
            aggregate_stats=False,
            continuous_dump=False,
        )
        profiler.set_state("run")

    def stop(self):
        """End, write, and name the file."""
        try:
            self._mxnet.profiler.set_state("stop")
        finally:
            self._bulk()
        self._mxnet.profiler.dump(True)
        _mend(self._path)
        self._write_graphs()  # also of what was bound in the window
        return [self._path]

    def _write_graphs(self):
        for kept in self._kept:
            kept.write()

    def _bulk(self):
        if self._bulk_size is not None:
            self._mxnet.engine.set_bulk_size(self._bulk_size)
            self._bulk_size = None
        self._restore()
        while self._swapped:
            executors, index, original = self._swapped.pop()
            executors[index] = original
        while self._cached:
            block, original = self._cached.pop()
            block._cached_op = original

    def _unbulk(self):
        self._environment = dict((name, os.environ.get(name)) for name in _BULKS)
        try:
            os.environ.update(dict.fromkeys(_BULKS, "0"))
            for module in self._modules():
                executors = getattr(getattr(module, "_exec_group", None), "execs", None) or []
                for index, original in enumerate(executors):
                    twin = original._symbol.bind(
                        original._ctx,
                        args=original.arg_arrays,
                        args_grad=original.grad_arrays,
                        grad_req=original._grad_req,
                        aux_states=original.aux_arrays,
                    )
                    executors[index] = twin
                    self._swapped.append((executors, index, original))
            for block in self._blocks():
                flags = [(key, value) for key, value in block._flags if not key.endswith("_bulk_size")]
                flags += [("forward_bulk_size", 0), ("backward_bulk_size", 0)]
                self._cached.append((block, block._cached_op))
                block._cached_op = self._mxnet.nd.CachedOp(block._cached_graph[1], flags)
        finally:
            if not self.whole_loops:  # else graphs are bound in the window: in its first step
                self._restore()

    def _restore(self):
        while self._environment:
            name, value = self._environment.popitem()
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _mend(path):
    """Make a trace whole: from the second one of a process on, MXNet leaves out how the file begins."""
    with open_file(path, "rb") as source:
        text = source.read().lstrip()
    if not text.startswith(b"{"):
        text = b'{"traceEvents": [' + text.lstrip(b",")
    text = re.sub(rb"\[\s*,", b"[", text, count=1)
    own_files.save(path, text)


def _arrays(state):
    """The arrays of a state: one, none, or several in a tuple."""
    if isinstance(state, (list, tuple)):
        return [one for part in state for one in _arrays(part)]
    return [state] if hasattr(state, "shape") else []


class MXNet(Engine):
    """MXNet, by its module API under Keras, and as Gluon."""

    name = module = "mxnet"
    tracer_class = MXNetTracer
    switches = (
        ("MXNET_ENGINE_TYPE=NaiveEngine", lambda _mx: os.environ.get("MXNET_ENGINE_TYPE") == "NaiveEngine"),
        (
            "MXNET_EXEC_BULK_EXEC_TRAIN=0",
            lambda _mx: os.environ.get("MXNET_EXEC_BULK_EXEC_TRAIN", "").lower() in ("0", "false"),
        ),
    )

    def __init__(self, probe):
        super(MXNet, self).__init__(probe)
        self._blocks = None
        self._graphs = None
        self._bound = weakref.WeakSet()
        self._by_hand = mxnet_by_hand.MXNetByHand(self)
        self._unused = mxnet_unused.UnusedGradients(self, self._hybridized)
        self._modules = mxnet_modules.ModuleLoops(self, self._optimiser_made)

    def slots_of(self, model):
        """The states of the updater of its module, or of the store that the module updates in."""
        module = getattr(model, "_module", None)
        current = getattr(module, "_curr_module", None) or module
        updater = getattr(current, "_updater", None) or getattr(getattr(current, "_kvstore", None), "_updater", None)
        names = getattr(getattr(updater, "optimizer", None), "idx2name", None) or {}
        states = getattr(updater, "states", None) or {}
        return [(str(names.get(key, "")), one) for key, state in sorted(states.items()) for one in _arrays(state)]

    def array_types(self, module):
        return (module.nd.NDArray,)

    def allocated(self, module):
        """What the largest bound graph has for values between its operators, as MXNet planned it, in whole MiB."""
        planned = []
        for bound in list(self._bound):
            executors = getattr(getattr(bound, "_exec_group", None), "execs", None) or []
            told = [_PLANNED.search(one.debug_str()) for one in executors]
            planned.append(sum(int(found.group(1)) for found in told if found))
        return {"step_bytes": max(planned) << 20, "step_how": _PLAN} if planned else None

    def is_ready(self, modules):
        """Whether MXNet's module API is loaded."""
        return "mxnet.module.module" in modules and hasattr(modules["mxnet"], "__version__")

    def attach(self, module):
        """Hook bind, rebind (a new batch shape), the optimiser's set-up, and hybridizing a block of Gluon."""
        self.note_version(module)
        probe, bound = self.probe, module.mod.Module
        for name in ("bind", "reshape", "init_optimizer"):
            signature = _shapes if name in ("bind", "reshape") else None
            probe.graph_compile(bound, name, _label(name), signature=signature)
        block = getattr(getattr(module, "gluon", None), "HybridBlock", None)
        if block is not None:
            probe.graph_compile(block, "_build_cache", lambda args: "hybridize %s" % type(args[0]).__name__)
        if self.wants_kernels:
            self._keep_graphs(bound, block)
        known = self._bound
        probe.around(bound, "bind", lambda _args: None, lambda _token, args: known.add(args[0]), again=True)
        self._watch_loops(module)
        arrays = getattr(module, "nd", None)
        if hasattr(arrays, "NDArray"):
            probe.syncs.watching(self.module)
            probe.syncs.watch(arrays.NDArray, _READS)
            probe.syncs.watch(arrays, (("waitall", "mx.nd.waitall()"),))

    def trained_weights(self, optimizer):
        """Numbers and type of the parameters of a `Trainer`, or of the modules that an optimiser updates."""
        weights = getattr(optimizer, "_params", None)
        if weights is None:
            weights = mxnet_modules.weights_of(self._bound, optimizer)
        return weights_told((size_of(one.shape), getattr(one.dtype, "__name__", str(one.dtype))) for one in weights)

    def _optimiser_made(self):
        self.probe.own_loops.made()
        self._by_hand.optimiser_made()

    def _watch_loops(self, module):
        """Updates by a `Module`, or by Gluon's `Trainer`, and what gives their batches."""
        gluon, own, probe = getattr(module, "gluon", None), self.probe.own_loops, self.probe
        folder = os.path.dirname(module.__file__)
        own.sites.skip(folder + os.sep, [os.path.join(folder, path) for path in mxnet_modules.LOOPS])
        self._modules.watch(module)
        trainer = getattr(gluon, "Trainer", None)
        if trainer is None:
            return
        self._by_hand.watch(module)
        for name in ("step", "update"):
            own.updates(self, trainer, name)
        made = probe.guard(lambda _result, _args: self._optimiser_made())
        probe.replace(trainer, "__init__", lambda f: probe.wrappers.after(f, made))
        if self.wants_kernels:
            self._unused.watch(gluon)
        autograd = getattr(module, "autograd", None)
        if hasattr(getattr(gluon, "data", None), "DataLoader") and hasattr(autograd, "is_recording"):
            mxnet_loaders.watch(self, gluon, autograd)

    def _hybridized(self):
        return self._blocks.in_use() if self._blocks is not None else []

    def trained_layers(self, optimizer, frames):
        """A training has begun; its layers have their names from graphs."""
        self._unused.training()
        self._modules.training()
        return super(MXNet, self).trained_layers(optimizer, frames)

    def after_training(self):
        """Gradients that nobody used."""
        told = self._unused.facts(), self._modules.unused()
        return {"unused_gradients": told[0] or told[1]}

    def _keep_graphs(self, bound, block):
        probe, nothing = self.probe, lambda _args: None
        if block is not None:
            blocks = self._blocks = _Blocks(self.kernel_folder)
            probe.around(block, "_build_cache", nothing, lambda _token, args: blocks.made(args[0]), again=True)
        graphs = self._graphs = _Graphs(self.kernel_folder)
        probe.around(bound, "bind", nothing, lambda _token, args: graphs.made(args[0]), again=True)

    def under_keras(self, keras):
        """Trace the bound modules, and remember which node of the graph each layer gives as its result."""
        graphs = self._graphs
        if graphs is not None:
            self.probe.windows.use(self.name, lambda: MXNetTracer(graphs))
            self.watch_layers(keras, graphs.called)

    def make_tracer(self):
        """That of a script without Keras, which uses Gluon or modules of its own."""
        return MXNetTracer(self._graphs, self._blocks)

    def threads(self, module):
        """OpenMP's number, or half of what OpenMP sees where that is not set."""
        told = os.environ.get("OMP_NUM_THREADS", "")
        return int(told) if told.isdigit() else max(1, len(_affinity(0)) >> 1)


def _shapes(args):
    """The module that is bound, and the shapes of its inputs; None where they were given by name."""
    if len(args) < 2:
        return None
    shapes = dict((name, "%s" % (tuple(shape),)) for name, shape in (one[:2] for one in args[1] or ()))
    return id(args[0]), "Module(%s)" % ", ".join(sorted(shapes)), shapes


def _label(name):
    text = "Module." + name
    return lambda _args: text


class _Kept(object):
    """What has a graph, as long as it lives. A graph is written when a window asks for it: programs make many of them.

    Args:
        folder: Where the graphs are written.
        prefix: How the names of their files begin.
    """

    def __init__(self, folder, prefix):
        self._path = os.path.join(folder, prefix + "-%03d.json")
        self._known = weakref.WeakKeyDictionary()
        self._count = 0

    def is_in_use(self, _owner):
        """Whether it still has its graph."""
        return True

    def facts_of(self, owner):
        """The graph of one, as JSON."""
        raise NotImplementedError

    def made(self, owner):
        """It has a new graph."""
        self._known[owner] = False

    def in_use(self):
        """Those that live, and are still in use."""
        return [owner for owner in list(self._known) if self.is_in_use(owner)]

    def write(self):
        """Write the graphs of those in use that were not written yet."""
        for owner in self.in_use():
            if not self._known[owner]:
                _write(self.facts_of(owner), self._path % self._count)
                self._known[owner] = True
                self._count += 1


class _Blocks(_Kept):
    """The blocks of Gluon that were hybridized, and their graphs."""

    def __init__(self, folder):
        super(_Blocks, self).__init__(folder, "gluon-graph")

    def is_in_use(self, block):
        """Whether it is still hybridized."""
        return getattr(block, "_cached_op", None) is not None

    def facts_of(self, block):
        """Each node under the name of the inner block that made it."""
        prefixes = dict((inner.prefix, inner.name) for inner in _inside(block))
        nodes = loads(block._cached_graph[1].tojson())["nodes"]
        return {
            "nodes": [
                {"op": n["op"], "name": _under(n["name"], prefixes), "inputs": [i[0] for i in n["inputs"]]}
                for n in nodes
            ],
            "layer_names": sorted(prefixes.values()),
            "outputs": {},
            "training": True,
            "ends": [len(nodes) - 1],
        }


def _inside(block):
    """All blocks in a block."""
    return [one for child in block._children.values() for one in [child] + _inside(child)]


def _under(name, prefixes):
    found = [prefix for prefix in prefixes if name.startswith(prefix)]
    return "%s/%s" % (prefixes[max(found, key=len)], name) if found else name


def _write(facts, path):
    if not os.path.isdir(os.path.dirname(path)):
        makedirs(os.path.dirname(path))
    own_files.save(path, wire.json_payload(facts))


class _Graphs(_Kept):
    """The modules that were bound, and their graphs."""

    def __init__(self, folder):
        super(_Graphs, self).__init__(folder, "mxnet-graph")
        self._outputs = {}

    def called(self, layer, result):
        """A layer was called on symbols."""
        for one in result if isinstance(result, (list, tuple)) else (result,):
            for name in ("_train_sym", "_pred_sym"):
                symbol = getattr(one, name, None)
                if hasattr(symbol, "name") and symbol.name:
                    self._outputs.setdefault(layer.name, set()).add(symbol.name)

    def facts_of(self, module):
        """Its nodes, and which of them each layer gives as its result; without Keras each node is a layer."""
        graph = loads(module.symbol.tojson())
        nodes = [{"op": n["op"], "name": n["name"], "inputs": [i[0] for i in n["inputs"]]} for n in graph["nodes"]]
        facts = {
            "nodes": nodes,
            "layer_names": sorted(self._outputs),
            "outputs": dict((layer, sorted(names)) for layer, names in self._outputs.items()),
            "training": bool(getattr(module, "for_training", False)),
        }
        if not self._outputs:
            for node in nodes:
                node["name"] = _TIME_STEP.sub("", node["name"])
            facts["layer_names"] = sorted({node["name"] for node in nodes if node["op"] != "null"})
            facts["ends"] = [head[0] for head in graph["heads"]]
        return facts
