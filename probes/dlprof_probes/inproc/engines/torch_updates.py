"""Updates by optimisers that torch.compile made part of a graph: they are told when the graph was called.

No hook of the optimiser runs there. While the compiler traces, it asks an optimiser for its parameters, group by group,
which tells the graph that will hold the update; what it is compiled to is a function that is called for each update.
"""

import sys
import weakref

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Attachment

_OPTIMIZERS = "torch._dynamo.variables.optimizer"
_ASKS = "_init_group"
_SEVERAL = (
    "torch.compile has made several updates of an optimiser part of one graph: they are told as one step. Marks tell"
    " steps: `for batch in mark.steps(batches)` (dlprof help marks)."
)
_UNSEEN = (
    "torch.compile has made an optimiser's step part of a graph: these updates are not seen, and no steps are told from"
    " them. Marks tell steps: `for batch in mark.steps(batches)` (dlprof help marks)."
)


class CompiledUpdates(object):
    """The graphs that hold updates.

    Args:
        engine: The `Engine`.
    """

    def __init__(self, engine):
        self._engine = engine
        self._probe = engine.probe
        self._graphs = {}
        self._sees_graphs = False

    def attachment(self):
        """What waits for the part of the compiler that knows optimisers."""
        is_ready = lambda modules: hasattr(modules[_OPTIMIZERS], "OptimizerVariable")  # noqa: E731
        return Attachment(_OPTIMIZERS, is_ready, self._watch_optimizers)

    def _watch_optimizers(self, module):
        probe = self._probe
        hook = probe.guard(self._traced, goes_on=True)
        probe.replace(module.OptimizerVariable, "call_method", lambda f: probe.wrappers.after(f, hook))

    def watch_graphs(self, module):
        """Listen to graphs that are compiled.

        Args:
            module: `torch._dynamo.output_graph`, or None.
        """
        probe, graph = self._probe, getattr(module, "OutputGraph", None)
        if hasattr(graph, "call_user_compiler"):
            hook = probe.guard(self._compiled, goes_on=True)
            make = lambda f: probe.wrappers.remade(f, hook)  # noqa: E731
            self._sees_graphs = probe.replace(graph, "call_user_compiler", make, again=True)

    def _traced(self, _result, args):
        """The compiler has asked an optimiser for something: `call_method(variable, translator, method, ...)`."""
        if args[2] != _ASKS or self._probe.current_loop() is not None:
            return
        graph, optimizer = getattr(args[1], "output", None), getattr(args[0], "value", None)
        if graph is None or optimizer is None or not self._sees_graphs:
            self._probe.recorder.note_once("update-compiled", _UNSEEN, "info")
            return
        key, graphs = id(graph), self._graphs
        known = graphs.get(key)
        if known is None:
            known = graphs[key] = (weakref.ref(graph, lambda _gone: graphs.pop(key, None)), {})
        found = known[1].setdefault(id(optimizer), [weakref.ref(optimizer), 0])
        found[1] += 1

    def _compiled(self, function, args):
        """A graph (the first of `args`) was compiled; gives what is to be called in place of `function`, or None."""
        known = self._graphs.pop(id(args[0]), None)
        if known is None or known[0]() is not args[0]:
            return None
        optimizers = []
        for reference, asked in known[1].values():
            optimizer = reference()
            if optimizer is not None:
                optimizers.append(reference)
                if asked > max(1, len(getattr(optimizer, "param_groups", ()))):
                    self._probe.recorder.note_once("update-compiled", _SEVERAL, "info")
        engine, update = self._engine, self._probe.own_loops.update

        def called(_result, _args, begin):
            for reference in optimizers:
                optimizer = reference()
                if optimizer is not None:
                    update(engine, optimizer, begin)

        return self._probe.wrappers.timed(function, called, now) if optimizers else None


def of_output_graph():
    """The compiler's module of graphs; None: it is not loaded."""
    return sys.modules.get("torch._dynamo.output_graph")
