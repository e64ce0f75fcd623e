"""MXNet: graph compilation is the binding of a module to shapes; the bound graphs are kept for attribution."""

import json
import os
import weakref


def ready(modules):
    """Whether MXNet's module API is loaded."""
    return "mxnet.module.module" in modules and hasattr(modules["mxnet"], "__version__")


def attach(probe, module):
    """Hook bind, rebind (a new batch shape) and the optimiser's set-up."""
    probe.recorder.meta({"engine": "mxnet", "engine_version": str(module.__version__)})
    for name in ("bind", "reshape", "init_optimizer"):
        signature = _shapes if name in ("bind", "reshape") else None
        probe.graph_compile(module.mod.Module, name, _label(name), signature=signature)
    block = getattr(getattr(module, "gluon", None), "HybridBlock", None)
    if block is not None:
        probe.graph_compile(block, "_build_cache", lambda args: "hybridize %s" % type(args[0]).__name__)
        if probe.windows.folder is not None:
            blocks = probe.mxnet_blocks = _Blocks(probe.windows.folder)
            probe.around(block, "_build_cache", lambda _args: None, lambda _t, args: blocks.built(args[0]), again=True)
    if probe.windows.folder is not None:
        graphs = _Graphs(probe.windows.folder)
        probe.mxnet_graphs = graphs
        probe.around(module.mod.Module, "bind", lambda _args: None, lambda _token, args: graphs.bound(args), again=True)


def _shapes(args):
    """The module that is bound, and the shapes of its inputs."""
    shapes = dict((name, "%s" % (tuple(shape),)) for name, shape in (one[:2] for one in args[1] or ()))
    return id(args[0]), "Module(%s)" % ", ".join(sorted(shapes)), shapes


def _label(name):
    text = "Module." + name
    return lambda _args: text


def watch_layers(probe, layer):
    """Remember which node of the graph each layer gives as its result."""
    graphs = getattr(probe, "mxnet_graphs", None)
    if graphs is not None:
        probe.windows.use("mxnet", graphs.modules)
        hook = probe.guard(lambda result, args: graphs.called(args[0], result))
        probe.replace(layer, "__call__", lambda f: probe.wrappers.after(f, hook), again=True)


class _Blocks(object):
    """The blocks of Gluon that were hybridized, and their graphs."""

    def __init__(self, folder):
        self._folder = folder
        self._known = weakref.WeakSet()
        self._count = 0

    def __call__(self):
        """The blocks that are still in use, and still hybridized."""
        return [block for block in self._known if getattr(block, "_cached_op", None) is not None]

    def built(self, block):
        """A block was hybridized: keep its graph, each node under the name of the inner block that made it."""
        self._known.add(block)
        prefixes = dict((inner.prefix, inner.name) for inner in _inside(block))
        nodes = json.loads(block._cached_graph[1].tojson())["nodes"]
        facts = {
            "nodes": [{"op": n["op"], "name": _under(n["name"], prefixes), "inputs": [i[0] for i in n["inputs"]]}
                      for n in nodes],
            "layer_names": sorted(prefixes.values()), "outputs": {}, "training": True, "ends": [len(nodes) - 1],
        }  # fmt: skip
        _write(facts, self._folder, "gluon-graph-%03d.json" % self._count)
        self._count += 1


def _inside(block):
    """All blocks in a block."""
    return [one for child in block._children.values() for one in [child] + _inside(child)]


def _under(name, prefixes):
    found = [prefix for prefix in prefixes if name.startswith(prefix)]
    return "%s/%s" % (prefixes[max(found, key=len)], name) if found else name


def _write(facts, folder, name):
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(os.path.join(folder, name), "w") as target:
        json.dump(facts, target)


class _Graphs(object):
    """The graphs that were bound, written to `mxnet-graph-NNN.json` as soon as they are."""

    def __init__(self, folder):
        self._folder = folder
        self._outputs = {}
        self._bound = []
        self._count = 0

    def modules(self):
        """The bound modules that are still in use."""
        return [module for module in (known() for known in self._bound) if module is not None]

    def called(self, layer, result):
        """A layer was called on symbols."""
        for one in result if isinstance(result, (list, tuple)) else (result,):
            for name in ("_train_sym", "_pred_sym"):
                symbol = getattr(one, name, None)
                if hasattr(symbol, "name") and symbol.name:
                    self._outputs.setdefault(layer.name, set()).add(symbol.name)

    def bound(self, args):
        """A module was bound: keep its graph."""
        module = args[0]
        self._bound.append(weakref.ref(module))
        nodes = json.loads(module.symbol.tojson())["nodes"]
        facts = {
            "nodes": [{"op": n["op"], "name": n["name"], "inputs": [i[0] for i in n["inputs"]]} for n in nodes],
            "layer_names": sorted(self._outputs),
            "outputs": dict((layer, sorted(names)) for layer, names in self._outputs.items()),
            "training": bool(getattr(module, "for_training", False)),
        }
        _write(facts, self._folder, "mxnet-graph-%03d.json" % self._count)
        self._count += 1
