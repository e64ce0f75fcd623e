"""MXNet's module API without Keras: updates of a `Module`, in `fit` or a loop of the script's, and its `DataIter`s."""

import os
from json import loads

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.loader_hooks import LoaderHooks
from dlprof_probes.inproc.patching import each_definer

LOOPS = (os.path.join("module", "base_module.py"), os.path.join("gluon", "contrib", "estimator", "estimator.py"))
"""Files of MXNet whose loops are a training's: what calls `fit` has no loop of its own around the steps."""
_SETTLED = 3
"""Updates of a training before anything is looked at."""
_LAYERS_TOLD = 256


class ModuleLoops(object):
    """Listens to modules, and to what gives them their batches.

    Args:
        engine: The `Engine`.
        optimiser_made: Called when a module has got its optimiser.
    """

    def __init__(self, engine, optimiser_made):
        self._engine = engine
        self._optimiser_made = optimiser_made
        self._infers = False
        self._updates = 0
        self._unused = None
        self._inside = {}
        self._iterated = set()

    def watch(self, mxnet):
        """Listen from now on."""
        probe, module = self._engine.probe, mxnet.mod.Module
        update, engine = probe.own_loops.update, self._engine
        look = probe.guard(self._look_at_gradients, goes_on=True)  # where it fails, steps are told all the same

        def updated(begin, args):
            update(engine, args[0]._optimizer, begin)  # modules of several lengths of sequences share one
            self._updates += 1
            if self._updates == _SETTLED:
                look(args[0])

        probe.around(module, "update", lambda _args: now(), updated, again=True)
        made = lambda _token, _args: self._optimiser_made()  # noqa: E731
        probe.around(module, "init_optimizer", lambda _args: None, made, again=True)
        passes = probe.guard(self._passes, goes_on=True)
        probe.replace(module, "forward", lambda f: probe.wrappers.with_arguments(f, passes), again=True)
        self._watch_iterators(getattr(getattr(mxnet, "io", None), "DataIter", None))

    def training(self):
        """A training has begun."""
        self._updates, self._unused = 0, None

    def unused(self):
        """What was computed for nothing in the training that is over, as `UnusedGradients.facts`; None: nothing."""
        facts, updates = self._unused, self._updates
        self.training()
        return facts and dict(facts, passes=updates, partly=updates)

    def _look_at_gradients(self, module):
        begin = now()
        layers, weights = _for_nothing(module)
        if layers:
            self._unused = {
                "share": None, "layers": layers[:_LAYERS_TOLD], "of_layers": 1.0, "weights": weights, "owned": False,
            }  # fmt: skip
        self._engine.probe.recorder.complete(wire.SpanKind.DLPROF, "look at gradients", begin, now())

    def _passes(self, args, kwargs):
        """A batch goes through a module: in a training, or else. Hot."""
        is_train = kwargs.get("is_train", args[2] if len(args) > 2 else None)
        self._infers = not (args[0].for_training if is_train is None else is_train)

    def _watch_iterators(self, base):
        if base is None:
            return
        probe = self._engine.probe
        hooks = LoaderHooks(probe, lambda _it: {}, _rows, lambda: self._infers, lambda _it: False)
        known = probe.guard(lambda _result, args: self._listen(type(args[0]), hooks), goes_on=True)
        self._listen(base, hooks)
        probe.replace(base, "__init__", lambda f: probe.wrappers.after(f, known), again=True)

    def _listen(self, cls, hooks):
        """Hook an iterator's class: scripts write their own, with methods of their own."""
        if cls in self._iterated:
            return
        self._iterated.add(cls)
        probe, wrappers = self._engine.probe, self._engine.probe.wrappers
        opened, asked, given, over = hooks.iterating
        outermost = self._asked(asked), self._given(given), self._over(over)
        for owner in each_definer([cls], "__iter__"):
            probe.replace(owner, "__iter__", lambda f: wrappers.opening(f, opened, now))
        for owner in each_definer([cls], "__next__"):
            probe.replace(owner, "__next__", lambda f: wrappers.iterating(f, *outermost))

    # An iterator's own `__next__` may call that of its base: one item.

    def _asked(self, asked):
        def enter(iterator):
            depth = self._inside[id(iterator)] = self._inside.get(id(iterator), 0) + 1
            if depth == 1:
                asked(iterator)

        return enter

    def _given(self, given):
        def leave(iterator, item):
            if self._is_left(iterator):
                given(iterator, item)

        return leave

    def _over(self, over):
        def leave(iterator):
            if self._is_left(iterator):
                over(iterator)

        return leave

    def _is_left(self, iterator):
        depth = self._inside.pop(id(iterator), 1) - 1
        if depth:
            self._inside[id(iterator)] = depth
        return not depth


def _rows(iterator):
    """Rows of a batch, where the iterator makes them."""
    size = getattr(iterator, "batch_size", None)
    return {"batch_size": size} if isinstance(size, int) and size else {}


def weights_of(modules, optimizer):
    """The arrays that an optimiser updates, each once: modules of one training share them."""
    found = {}
    for module in list(modules):
        if getattr(module, "_optimizer", None) is optimizer:
            found.update(getattr(module, "_arg_params", None) or {})
    return found.values()


def _for_nothing(module):
    """Nodes through which the way back goes on to weights that are updated at a rate of nothing alone: names, number.

    What has a weight that learns in front of it, hands gradients on to that.
    """
    wanted, rates = module._exec_group.grad_req, getattr(module._optimizer, "lr_mult", None) or {}
    stay = {name for name, rate in rates.items() if not rate and wanted.get(name, "null") != "null"}
    if not stay:
        return [], 0
    learn = {name for name, request in wanted.items() if request != "null"} - stay
    found, behind = [], []
    for node in loads(module.symbol.tojson())["nodes"]:
        before = {node["name"]}.union(*[behind[one[0]] for one in node["inputs"]])
        behind.append(before & (learn | stay))
        if node["op"] != "null" and behind[-1] and not behind[-1] & learn:
            found.append(node["name"])
    return found, len(stay)
