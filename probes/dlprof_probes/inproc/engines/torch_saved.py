"""What autograd keeps for the backward pass of a step, by its own account: what the graph of a loss has saved.

Looked at before the first few backward passes of the process, when all of them are still there; nothing is changed.
What that takes is our own time, and what the wrapper takes in each later pass is priced as a hook.
"""

from dlprof_probes import wire
from dlprof_probes.inproc import layer_shapes
from dlprof_probes.inproc.clock import now

_LOOKED_AT = 3
"""Backward passes: the first may be one of a small trial."""
_MOST_NODES = 20000
_SAVED = "_saved_"
HOW = "kept for the backward pass of a step, with its batch: tensors that autograd has saved"


class SavedTensors(object):
    """Sums what is saved.

    Args:
        probe: The `Probe`.

    Attributes:
        bytes: The most that one of the backward passes had before it; None: none was looked at.
        floats: What of that is floats, by their type (bytes).
    """

    def __init__(self, probe):
        self._probe = probe
        self._left = _LOOKED_AT
        self._names = {}  # type of a node: names of its saved values
        self.bytes = None
        self.floats = {}

    def watch(self, torch):
        """Look at what backward passes begin with, from now on.

        Not where the script, or a library, packs saved tensors in a way of its own: to look at one unpacks it, which
        may compute it anew.
        """
        hooks = getattr(getattr(torch.autograd, "graph", None), "saved_tensors_hooks", None)
        if hooks is None:
            return
        looked, calls = self._probe.guard(self._look), self._probe.calls

        def watched(original):
            def backward(tensors, *args, **kwargs):
                if self._left:
                    looked(tensors)
                else:
                    calls[0] += 1
                return original(tensors, *args, **kwargs)

            return backward

        self._probe.replace(torch.autograd, "backward", watched, again=True)
        self._probe.around(hooks, "__enter__", self._packed, lambda _token, _args: None)

    def _packed(self, _args):
        self._left, self.bytes, self.floats = 0, None, {}

    def _look(self, tensors):
        self._left -= 1
        start = now()
        roots = tensors if isinstance(tensors, (list, tuple)) else (tensors,)
        held = self._of([getattr(one, "grad_fn", None) for one in roots])
        if held is not None and sum(held.values()) >= (self.bytes or 0):
            self.bytes = sum(held.values())
            self.floats = {layer_shapes.text(kind): size for kind, size in held.items() if kind.is_floating_point}
        self._probe.recorder.complete(wire.SpanKind.DLPROF, "look at saved tensors", start, now())

    def _of(self, waiting):
        """Bytes, by type, of the storages that the nodes behind some have saved, without parameters; None: too many."""
        seen, storages, weights = set(), {}, set()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            if len(seen) >= _MOST_NODES:
                return None
            seen.add(node)
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                weights.add(_storage(leaf)[0])
                continue
            for tensor in self._saved(node):
                place, size = _storage(tensor)
                if size >= storages.get(place, (0, None))[0]:
                    storages[place] = size, tensor.dtype
            waiting.extend(following for following, _ in node.next_functions)
        held = {}
        for place, (size, kind) in storages.items():
            if place not in weights:
                held[kind] = held.get(kind, 0) + size
        return held

    def _saved(self, node):
        kind = type(node)
        if kind not in self._names:
            self._names[kind] = [name for name in dir(kind) if name.startswith(_SAVED)]
        found = [_quiet(node, name) for name in self._names[kind]] or [_quiet(node, "saved_tensors")]
        for one in found:
            for tensor in one if isinstance(one, (list, tuple)) else (one,):
                if hasattr(tensor, "untyped_storage"):
                    yield tensor


def _quiet(node, name):
    """A saved value; None where it was freed, or changed in place."""
    try:
        return getattr(node, name, None)
    except RuntimeError:
        return None


def _storage(tensor):
    """(where it begins, bytes) of what a tensor is a view of; (0, 0): it has none."""
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0, 0
