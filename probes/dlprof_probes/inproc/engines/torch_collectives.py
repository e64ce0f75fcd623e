"""Ranks of `torch.distributed`, its collectives, and what DistributedDataParallel still waits for after a backward.

DDP reduces gradients in C++, bucket by bucket, while others are made, and waits at the end of the backward for what
is not there yet. Autograd calls functions at that end, in the order in which they were queued: ours is queued when the
backward begins, so before DDP's, and when it is called it queues another one, behind DDP's. The wait is between them.

Only collectives of tensors in the host's memory are told: with others nothing waits on the host.
"""

import sys
import weakref

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Attachment

_C10D = "torch.distributed.distributed_c10d"
_DDP = "torch.nn.parallel.distributed"
_KINDS = {
    "allreduce": "all_reduce", "allreduce_coalesced": "all_reduce", "broadcast": "broadcast", "reduce": "reduce",
    "allgather": "all_gather", "_allgather_base": "all_gather", "allgather_into_tensor_coalesced": "all_gather",
    "gather": "gather", "scatter": "scatter", "reduce_scatter": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter", "alltoall": "all_to_all", "alltoall_base": "all_to_all",
    "barrier": "barrier",
}  # fmt: skip
"""Methods of a process group, and what the functions are called that call them."""
BACKWARD = "backward"
_MOST_PENDING = 4096
"""Collectives that are begun and not waited for, at most: others were never to be."""
_OUTPUTS = 8
"""Results of a model at which a backward may begin, at most."""


def attachments(probe):
    """What waits for the parts of torch that ranks need."""
    is_loaded = lambda modules: hasattr(modules.get("torch"), "compile")  # noqa: E731
    return [
        Attachment(
            _C10D,
            lambda modules: is_loaded(modules) and hasattr(modules[_C10D], "new_subgroups_by_enumeration"),
            lambda module: Collectives(probe, module),
        ),
        Attachment(
            _DDP,
            lambda modules: is_loaded(modules) and hasattr(modules[_DDP], "DistributedDataParallel"),
            lambda module: Backwards(probe, module),
        ),
    ]


class _Numbers(object):
    """The place of a collective among those of its kind and group."""

    def __init__(self):
        self._next = {}

    def next(self, kind, group):
        number = self._next.get((kind, group), 0)
        self._next[kind, group] = number + 1
        return number


class Collectives(object):
    """Listens to the collectives that Python calls, and to the beginning of a process group.

    Args:
        probe: `Probe`.
        module: `torch.distributed.distributed_c10d`.
    """

    def __init__(self, probe, module):
        self._recorder = probe.recorder
        self._numbers = _Numbers()
        self._pending = {}
        began = probe.guard(lambda _result, args: self._began(args[0]), goes_on=True)
        probe.replace(module, "_update_default_pg", lambda f: probe.wrappers.after(f, began))
        group, work = getattr(module, "ProcessGroup", None), getattr(module, "Work", None)
        if group is None or work is None or sys.version_info < (3, 8):
            probe.missing.append(_C10D + ".ProcessGroup")
            return
        for name in _KINDS:
            self._listen(probe, group, name)
        over = probe.guard(self._over, goes_on=True)
        probe.replace(work, "wait", lambda f: probe.wrappers.timed_method(f, "wait", over, now))

    def _listen(self, probe, group, name):
        if name in vars(group):
            kind = _KINDS[name]
            called = probe.guard(lambda work, args, begin: self._called(kind, work, args, begin), goes_on=True)
            probe.replace(group, name, lambda f: probe.wrappers.timed_method(f, name, called, now))

    def _began(self, group):
        if group is not None:
            self._recorder.meta({"rank": {"rank": group.rank(), "world": group.size(), "by": "torch.distributed"}})
            self._recorder.flush()

    def _called(self, kind, work, args, begin):
        name = str(getattr(args[0], "group_name", ""))
        number = self._numbers.next(kind, name)
        size = _bytes(args[1:2])
        if size is None or work is None:
            return
        if len(self._pending) >= _MOST_PENDING:
            self._pending.clear()
        self._pending[id(work)] = (kind, name, number, begin, size)

    def _over(self, _result, args, blocked):
        found = self._pending.pop(id(args[0]), None)
        if found is not None:
            kind, name, number, begin, size = found
            self._recorder.collective((kind, name, number), (begin, blocked, now()), size)


def _bytes(values):
    """Bytes of the tensors that a rank gives; `wire.NONE`: there are none; None: they are not in the host's memory."""
    tensors = list(values)
    while tensors and isinstance(tensors[0], (list, tuple)):
        tensors = list(tensors[0])
    sizes = [one for one in tensors if hasattr(one, "element_size")]
    if any(one.device.type != "cpu" for one in sizes):
        return None
    return sum(one.numel() * one.element_size() for one in sizes) if sizes else wire.NONE


class Backwards(object):
    """Listens to the backward passes of models in DistributedDataParallel.

    Args:
        probe: `Probe`.
        module: `torch.nn.parallel.distributed`.
    """

    def __init__(self, probe, module):
        self._probe = probe
        self._numbers = _Numbers()
        self._sizes = weakref.WeakKeyDictionary()
        self._tensors = getattr(module, "_find_tensors", None)
        self._engine = sys.modules["torch"].autograd.Variable._execution_engine
        model = module.DistributedDataParallel
        if self._tensors is None:
            probe.missing.append(_DDP + "._find_tensors")
            return
        forward = probe.guard(lambda output, args: self._forward(args[0], output), goes_on=True)
        forward._torchdynamo_disable = True  # what torch.compile makes of DDP ends before DDP's own call here, too
        probe.replace(model, "_post_forward", lambda f: probe.wrappers.after(f, forward))

    def _forward(self, model, output):
        """A model gave its output: a backward begins at one of its tensors."""
        torch = sys.modules["torch"]
        if not model.require_backward_grad_sync or not torch.is_grad_enabled():
            return
        if getattr(model, "device_type", "") != "cpu":
            return
        nodes = [one.grad_fn for one in self._tensors(output) if one.grad_fn is not None]
        if nodes:
            begin = _Once(self._probe.guard(lambda: self._begin(model), goes_on=True))
            for node in nodes[:_OUTPUTS]:
                node.register_prehook(begin)

    def _begin(self, model):
        group = str(getattr(model.process_group, "group_name", ""))
        size = self._sizes.get(model)
        if size is None:
            weights = [one for one in model.parameters() if one.requires_grad]
            size = self._sizes[model] = sum(one.numel() * one.element_size() for one in weights)
        self._engine.queue_callback(self._probe.guard(lambda: self._made(group, size), goes_on=True))

    def _made(self, group, size):
        """All gradients of this rank are made; DDP's own function is next."""
        number, begin = self._numbers.next(BACKWARD, group), now()

        def reduced():
            self._probe.recorder.collective((BACKWARD, group, number), (begin, begin, now()), size)

        self._engine.queue_callback(self._probe.guard(reduced, goes_on=True))


class _Once(object):
    """A hook of a node of autograd that does something the first time, and leaves gradients as they are."""

    def __init__(self, action):
        self._action = action

    def __call__(self, _gradients):
        action, self._action = self._action, None
        if action is not None:
            action()
