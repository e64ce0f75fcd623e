"""Updates by hand in MXNet: `backward()`, and arrays with a gradient attached that are written to between.

Where a `Trainer` was made, nothing is looked at any more.
"""

from sys import _getframe

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.inferred.by_hand import HandUpdates, Weights
from dlprof_probes.inproc.patching import each_definer

_WRITES = ("__setitem__", "__isub__", "__iadd__")
_MOST = 4096
"""Arrays with a gradient that are remembered, the first ones: they cannot be referred to weakly."""


class MXNetByHand(object):
    """Listens to arrays and to backward passes.

    Args:
        engine: The `Engine`.
    """

    def __init__(self, engine):
        self._engine = engine
        self._own = None
        self._calls = [0]
        self._updates = HandUpdates(engine)
        self._attached = set()
        self._writes = 0
        self._seen = {}

    def watch(self, mxnet):
        """Listen from now on."""
        probe, classes = self._engine.probe, [mxnet.nd.NDArray]
        self._own, self._calls = probe.own_loops, probe.calls
        arrays = getattr(getattr(mxnet, "np", None), "ndarray", None)
        if isinstance(arrays, type):
            classes.append(arrays)
        after = probe.wrappers.after
        attached = probe.guard(lambda _result, args: self._attach([args[0]]), goes_on=True)
        marked = probe.guard(lambda _result, args: self._attach(args[0]), goes_on=True)
        for owner in each_definer(classes, "attach_grad"):
            probe.replace(owner, "attach_grad", lambda f: after(f, attached), again=True)
        probe.replace(mxnet.autograd, "mark_variables", lambda f: after(f, marked), again=True)
        for name in _WRITES:
            for owner in each_definer(classes, name):
                probe.replace(owner, name, lambda f: after(f, self._written), again=True)
        taken = probe.guard(self._taken, goes_on=True)
        for owner in [*each_definer(classes, "backward"), mxnet.autograd]:
            probe.replace(owner, "backward", lambda f: probe.wrappers.timed(f, taken, now), again=True)

    def optimiser_made(self):
        """A `Trainer` was made, or an optimiser of Keras applied."""
        self._updates.end()

    def _attach(self, arrays):
        """Gradients are wanted of these from now on: of a model that is new, so that what was seen is over."""
        if self._updates.is_on:
            for one in arrays if isinstance(arrays, (list, tuple)) else [arrays]:
                if len(self._attached) < _MOST:
                    self._attached.add(id(one))
            self._updates.forget()

    def _written(self, _result, args):
        """Hot: any array may be written to. It cannot fail."""
        self._calls[0] += 1
        if id(args[0]) in self._attached:
            self._writes += 1

    def _taken(self, _result, _args, begin):
        if not self._updates.is_on or not self._attached or self._own.is_silent():
            return
        key = self._own.sites.look(_getframe(1)).where
        known, writes = self._updates.weights(key), self._writes
        changed, self._seen[key] = writes != self._seen.get(key, writes), writes
        if known is None:
            self._updates.first_taken(key, Weights(), begin)
        elif known.is_worth_a_look():
            self._updates.taken(known, changed, begin)
