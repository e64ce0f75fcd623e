"""Updates by hand in PyTorch: `backward()` or `autograd.grad`, and weights that the program changes in place between.

`weight = weight - rate * weight.grad`, outside of `torch.no_grad()`, changes nothing: the new weight leads to the old
one, and the way back is longer each time. That is told from how far it is to the first leaf.

Where an optimiser of torch was made, nothing is looked at any more: what changes weights between two backward passes
may be its own search (L-BFGS), or a perturbation (SAM).
"""

import weakref
from ctypes import string_at
from sys import _getframe

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.inferred.by_hand import HandUpdates, Weights

_LOOKED_AT = 8
"""Weights of which is looked whether they were changed."""
_MOST_NODES = 20000
_NODES_TO_A_LEAF = 500
_BYTES = 64
_LONGER = 4
"""So many passes in a row that go further back than the one before: a graph that is kept."""


class Leaves(Weights):
    """The leaves of a graph.

    Args:
        leaves: Tensors.
        can_look: Whether the first bytes of their memory may be read.
    """

    def __init__(self, leaves):
        super(Leaves, self).__init__()
        self._leaves = [weakref.ref(leaf) for leaf in leaves]
        self._apart = max(1, len(leaves) // _LOOKED_AT)
        self._distance = self._longer = 0
        self._versions = self._seen_versions()
        self._bytes = self._seen_bytes()
        self.state = {}

    @property
    def param_groups(self):
        """As an optimiser has them."""
        return [{"params": [leaf for leaf in (held() for held in self._leaves) if leaf is not None]}]

    def begins_with(self, leaf):
        """Whether that is the first leaf."""
        return self._leaves[0]() is leaf

    def lead_further(self, distance):
        """Whether it was further to the first leaf (nodes) each of the last times: other weights are in between."""
        self._longer = self._longer + 1 if 0 < self._distance < distance else 0
        self._distance = distance
        return self._longer >= _LONGER

    def have_changed(self):
        """Whether one was changed since this was last asked."""
        before, self._versions = self._versions, self._seen_versions()
        if self._versions != before:
            self._bytes = None  # these do for all further calls
            return True
        if self._bytes is None:
            return False
        before, self._bytes = self._bytes, self._seen_bytes()  # `weight.data -= ...` counts no version
        return self._bytes != before

    def _looked_at(self):
        return [leaf for leaf in (held() for held in self._leaves[:: self._apart]) if leaf is not None]

    def _seen_versions(self):
        return [leaf._version for leaf in self._looked_at()]

    def _seen_bytes(self):
        return [_bytes(leaf) for leaf in self._looked_at()]


class TorchByHand(object):
    """Listens to backward passes.

    Args:
        engine: The `Engine`.
        unused: `torch_unused.UnusedGradients`, which looks at some of them, too.
    """

    def __init__(self, engine, unused):
        self._engine = engine
        self._unused = unused
        self._own = None
        self._updates = HandUpdates(engine)
        self._kept = {}
        """Weights whose graph is kept, by where they are trained: nobody need look at it again, which takes long."""

    def watch(self, torch):
        """Listen from now on."""
        probe, updates, unused = self._engine.probe, self._updates, self._unused
        self._own = probe.own_loops
        taken, calls = probe.guard(self._taken, goes_on=True), probe.calls

        def watched(original, is_backward):
            def backward(*args, **kwargs):
                is_kept = (args[2] if len(args) > 2 else kwargs.get("retain_graph")) is True
                if not (updates.is_on or is_kept or unused.is_on):
                    calls[0] += 1
                    return original(*args, **kwargs)
                begin = now()
                result = original(*args, **kwargs)
                taken(args, kwargs, begin, is_kept, is_backward)
                return result

            return backward

        probe.replace(torch.autograd, "backward", lambda f: watched(f, True), again=True)
        probe.replace(torch.autograd, "grad", lambda f: watched(f, False), again=True)

    def optimiser_made(self):
        """An optimiser of torch was made, or one of Keras was applied."""
        self._updates.end()

    def _taken(self, args, keywords, begin, is_kept, is_backward):
        """`backward(tensors, ...)` or `grad(outputs, inputs, ...)`; `is_kept`: the graph is, for another one."""
        end = now()
        if self._own.is_silent():
            return
        targets = _list(args[0] if args else keywords.get("tensors", keywords.get("outputs")))
        if is_kept:
            self._own.gradient(targets[0], begin)
        if self._unused.is_on and is_backward:
            self._unused.passed(targets, begin, end, self._own.sites.look(_getframe(1)).line)
        if self._updates.is_on:
            self._look([getattr(one, "grad_fn", None) for one in targets], begin)

    def _look(self, roots, begin):
        """Look at the weights that a graph leads to."""
        where = self._own.sites.look(_getframe(1)).where
        if where in self._kept:
            self._updates.taken(self._kept[where], True, begin)
            return
        first, distance = _first_leaf(list(roots), _NODES_TO_A_LEAF)
        if first is None:
            return
        key = where, id(first)
        known = self._updates.weights(key)
        if known is None or not known.begins_with(first):
            self._updates.first_taken(key, Leaves(list(_leaves(list(roots), _MOST_NODES))), begin)
        elif known.is_worth_a_look():
            if known.lead_further(distance):
                self._kept[where] = known
            self._updates.taken(known, known.have_changed() or where in self._kept, begin)


def _list(value):
    return value if isinstance(value, (list, tuple)) else [value]


def _first_leaf(waiting, most):
    """The leaf that was used last, and how many nodes were passed on the way to it; (None, nodes): none, of so many."""
    passed = []
    leaf = next(_leaves(waiting, most, passed), None)
    return leaf, len(passed)


def _leaves(waiting, most, passed=None):
    """The leaves that nodes of a graph lead to, the last ones used first; of that many nodes at most."""
    seen = set()
    while waiting and len(seen) < most:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if passed is not None:
            passed.append(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield leaf
        waiting.extend(following for following, _ in reversed(node.next_functions))


def _bytes(leaf):
    """Some bytes in the middle of a tensor's memory on the host; None: it is elsewhere, or has none."""
    if leaf.device.type != "cpu" or not leaf.is_contiguous():
        return None
    size = leaf.numel() * leaf.element_size()
    return string_at(leaf.data_ptr() + size // 2, min(_BYTES, size - size // 2)) if size else None
