"""Ranks of `torch.distributed`, its collectives, and what DistributedDataParallel waits for: buffers, and gradients.

DDP reduces gradients in C++, bucket by bucket, while others are made, and waits at the end of the backward for what
is not there yet. Autograd calls functions at that end, in the order in which they were queued: ours is queued when the
backward begins, so before DDP's, and when it is called it queues another one, behind DDP's. The wait is between them.

Buffers go out before a forward pass, in a call of C++ that comes back when they are there.

Only collectives of tensors in the host's memory are told: with others nothing waits on the host.
"""

import os
import sys
import weakref

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Attachment
from dlprof_probes.inproc.facts import quiet

_affinity = getattr(os, "sched_getaffinity", None)
_getframe = sys._getframe

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
BUFFERS = "buffers"
"""What DDP broadcasts before a forward pass: all buffers of the model, also those that nothing changes."""
_MOST_PENDING = 4096
"""Collectives that are begun and not waited for, at most: others were never to be."""
_REBUILT = 3
"""At this forward pass DDP has put its gradients together anew, in the order in which they are made: what stays."""
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
        if group is None:  # it is given up: launchers such as Ray's may end the process next, without a word
            self._recorder.flush()
        else:
            self._recorder.meta({"rank": {"rank": group.rank(), "world": group.size(), "by": "torch.distributed"}})
            self._recorder.flush()
            if group.size() > 1:
                self._recorder.flush_often()

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
    """Listens to the backward passes of models in DistributedDataParallel, and to the broadcasts of their buffers.

    Args:
        probe: `Probe`.
        module: `torch.nn.parallel.distributed`.
    """

    def __init__(self, probe, module):
        self._probe = probe
        self._numbers = _Numbers()
        self._models = weakref.WeakKeyDictionary()
        self._places = weakref.WeakKeyDictionary()
        self._torch = sys.modules["torch"]
        self._tensors = getattr(module, "_find_tensors", None)
        if self._tensors is None:
            probe.missing.append(_DDP + "._find_tensors")
            return
        forward = probe.guard(lambda output, args: self._forward(args[0], output), goes_on=True)
        forward._torchdynamo_disable = True  # what torch.compile makes of DDP ends before DDP's own call here, too
        probe.replace(module.DistributedDataParallel, "_post_forward", lambda f: probe.wrappers.after(f, forward))
        if "_ddp_init_helper" in vars(module.DistributedDataParallel):
            made = probe.guard(lambda _result, args: self._made(args[0], _getframe(1)), goes_on=True)
            probe.replace(module.DistributedDataParallel, "_ddp_init_helper", lambda f: probe.wrappers.after(f, made))
        name = "_distributed_broadcast_coalesced"
        if name in vars(module.DistributedDataParallel):
            sent = probe.guard(self._sent, goes_on=True)
            sent._torchdynamo_disable = True
            timed = lambda f: probe.wrappers.timed_method(f, name, sent, now)  # noqa: E731
            probe.replace(module.DistributedDataParallel, name, timed)

    def _made(self, model, frame):
        self._places[model] = self._probe.recorder.user_line(frame)

    def _sent(self, _result, args, begin):
        """A model's buffers are what those of one rank are: `args` are the model, the buffers and more."""
        size = _bytes(args[1:2])
        if size is not None:
            group = str(getattr(args[0].process_group, "group_name", ""))
            number = self._numbers.next(BUFFERS, group)
            self._probe.recorder.collective((BUFFERS, group, number), (begin, begin, now()), size)

    def _forward(self, model, output):
        """A model gave its output: a backward begins at one of its tensors."""
        if not model.require_backward_grad_sync or not self._torch.is_grad_enabled():
            return
        known = self._models.get(model)
        if known is None:
            known = self._models[model] = self._of(model)
        known.forwards += 1
        if known.forwards in (1, _REBUILT):
            self._tell(model, known.size)
        if known.is_told:
            tensors = [output] if type(output) is self._torch.Tensor else self._tensors(output)
            nodes = [one.grad_fn for one in tensors if one.grad_fn is not None]
            known.is_due = True
            for node in nodes[:_OUTPUTS]:
                node.register_prehook(known.begin)

    def _of(self, model):
        weights = [one for one in model.parameters() if one.requires_grad]
        size = sum(one.numel() * one.element_size() for one in weights)
        group = str(getattr(model.process_group, "group_name", ""))
        engine = self._torch.autograd.Variable._execution_engine
        is_told = getattr(model, "device_type", "") == "cpu"
        return _Backward(self._probe, engine.queue_callback, (group, size, self._numbers), is_told)

    def _tell(self, model, size):
        """How a model's gradients are put together, and what this rank may compute with."""
        place = self._places.get(model, ("", 0))
        facts = {"bytes": size, "file": place[0], "line": place[1]}
        facts["buckets"] = quiet(lambda: _buckets(model._get_ddp_logging_data()))
        facts["threads"] = quiet(lambda: int(self._torch.get_num_threads()))
        facts["cores"] = quiet(lambda: len(_affinity(0)))
        self._probe.recorder.meta({"data_parallel": facts})


def _buckets(told):
    """How many collectives the gradients are given in."""
    return len((told.get("rebuilt_bucket_sizes") or told["bucket_sizes"]).split(","))


class _Backward(object):
    """The backward passes of a model.

    Args:
        probe: `Probe`.
        queue: Function that has autograd call another one at the end of the backward that runs.
        facts: The group's name, bytes of the gradients, and `_Numbers`.
        is_told: Whether it waits on the host for what it gets.

    Attributes:
        is_due: A forward pass is over, of which none has begun.
        forwards: Forward passes so far.
        size: Bytes of the gradients.
        begin: Hook of the nodes of autograd that a backward begins with; it leaves gradients as they are.
    """

    def __init__(self, probe, queue, facts, is_told):
        self.is_told = is_told
        self.is_due = False
        self.forwards = 0
        self._recorder = probe.recorder
        self._queue = queue
        self._group, self.size, self._numbers = facts
        self._number = self._began = 0
        self.begin = probe.guard(self._begin, goes_on=True)
        self._made, self._reduced = probe.guard(self._all_made, goes_on=True), probe.guard(self._over, goes_on=True)

    def _begin(self, _gradients):
        if self.is_due:
            self.is_due = False
            self._queue(self._made)

    def _all_made(self):
        """All gradients of this rank are made; DDP's own function is next."""
        self._number = self._numbers.next(BACKWARD, self._group)
        self._queue(self._reduced)
        self._began = now()

    def _over(self):
        """DDP has what the other ranks gave."""
        end = now()
        self._recorder.collective((BACKWARD, self._group, self._number), (self._began, self._began, end), self.size)
