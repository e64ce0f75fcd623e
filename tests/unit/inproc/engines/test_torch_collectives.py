"""Collectives of torch, and the end of DDP's backward, by stand-ins of both."""

from __future__ import annotations

import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_collectives
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


class Tensor:
    """Of 4 bytes a value, on a device."""

    def __init__(self, count: int, device: str = "cpu", grad_fn: Any = None) -> None:
        self.count, self.device, self.grad_fn = count, SimpleNamespace(type=device), grad_fn
        self.requires_grad = True

    def numel(self) -> int:
        """Values."""
        return self.count

    def element_size(self) -> int:
        """Bytes of one."""
        return 4


class Node:
    """A node of autograd's graph."""

    def __init__(self) -> None:
        self.hooks: list[Any] = []

    def register_prehook(self, hook: Any) -> None:
        """Keep a hook."""
        self.hooks.append(hook)


class Engine:
    """Autograd's engine: what is queued is called at the end of the backward, in order."""

    def __init__(self) -> None:
        self.queue: list[Any] = []

    def queue_callback(self, function: Any) -> None:
        """Call it at the end."""
        self.queue.append(function)

    def backward(self, *nodes: Node, ddp: Any) -> None:
        """A backward that begins at some nodes; DDP queues its own function in its middle."""
        for node in nodes:
            for hook in node.hooks:
                assert hook((1,)) is None
        self.queue_callback(ddp)
        while self.queue:
            self.queue.pop(0)()


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, as far as it is asked for."""
    module: Any = ModuleType("torch")
    module.engine = Engine()
    module.autograd = SimpleNamespace(Variable=SimpleNamespace(_execution_engine=module.engine))
    module.is_grad_enabled = lambda: True
    module.Tensor = Tensor
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.fixture
def c10d(probe: Probe, torch: Any) -> Any:
    """A stand-in of `torch.distributed`, listened to."""
    module: Any = ModuleType("torch.distributed.distributed_c10d")

    class Work:
        def wait(self) -> bool:
            return True

    class ProcessGroup:
        group_name = "0"

        def allreduce(self, _tensors: Any, _opts: Any = None) -> Work:
            return Work()

        def barrier(self) -> Work:
            return Work()

        def rank(self) -> int:
            return 1

        def size(self) -> int:
            return 2

    module.ProcessGroup, module.Work = ProcessGroup, Work
    module._update_default_pg = lambda _group: None
    torch_collectives.Collectives(probe, module)
    return module


def told(out: Recorded) -> list[tuple[str, str, int, int]]:
    """Kind, group, ordinal and bytes of each."""
    rows = out.stream().collectives
    return [(rows.texts.by_number[row[0]], rows.texts.by_number[row[1]], row[2], row[6]) for row in rows]


def test_collectives_are_told_once_they_were_waited_for(c10d: Any, out: Recorded) -> None:
    """Counted by kind and group, from the call on: also those that are never waited for, or not in the host's memory."""
    group = c10d.ProcessGroup()
    works = [group.allreduce([Tensor(10)]), group.allreduce([Tensor(10, "cuda")]), group.allreduce([Tensor(3)])]
    works[2].wait()
    works[1].wait()
    group.barrier().wait()

    assert told(out) == [("all_reduce", "0", 2, 12), ("barrier", "0", 0, -1)]


def test_the_rank_is_told_by_the_process_group(c10d: Any, out: Recorded) -> None:
    """When it is made, by whatever launcher."""
    c10d._update_default_pg(c10d.ProcessGroup())
    c10d._update_default_pg(None)
    assert out.stream().meta["rank"] == {"rank": 1, "world": 2, "by": "torch.distributed"}


def test_what_was_recorded_is_written_when_the_process_group_is_given_up(c10d: Any, out: Recorded) -> None:
    """Ray Train ends its workers right after that, and no function of theirs is called any more."""
    c10d._update_default_pg(c10d.ProcessGroup())
    out.note("last", "words")
    written = out.folder / "inproc.wire"
    before = written.stat().st_size
    c10d._update_default_pg(None)
    assert written.stat().st_size > before


def test_a_method_keeps_the_frame_by_which_pybind_knows_it(c10d: Any) -> None:
    """Its name, and `self` in front: else a subclass of Python would be called for ever."""
    code = c10d.ProcessGroup.allreduce.__code__
    assert (code.co_name, code.co_varnames[0], code.co_argcount) == ("allreduce", "self", 1)


@pytest.fixture
def ddp(probe: Probe, torch: Any) -> Any:
    """A stand-in of DistributedDataParallel, listened to; models of 5 values."""
    module: Any = ModuleType("torch.nn.parallel.distributed")

    class DistributedDataParallel:
        require_backward_grad_sync = True
        device_type = "cpu"
        process_group = SimpleNamespace(group_name="0")

        def __init__(self) -> None:
            self._ddp_init_helper()

        def _ddp_init_helper(self) -> None:
            self.buckets, self.rebuilt = "12, 8", ""

        def _get_ddp_logging_data(self) -> dict[str, str]:
            return {"bucket_sizes": self.buckets, "rebuilt_bucket_sizes": self.rebuilt}

        def parameters(self) -> list[Tensor]:
            return [Tensor(5)]

        def _post_forward(self, output: Any) -> Any:
            return output

        def _distributed_broadcast_coalesced(self, tensors: list[Tensor], _size: int, _rank: int = 0) -> None:
            """Those of one rank in the place of these."""

    module.DistributedDataParallel = DistributedDataParallel
    module._find_tensors = lambda output: output
    torch_collectives.Backwards(probe, module)
    return module


def test_the_end_of_a_backward_is_what_ddp_does_in_it(ddp: Any, torch: Any, out: Recorded) -> None:
    """Once, whatever number of outputs it begins at: right before DDP's function, and right after it."""
    order: list[str] = []
    model = ddp.DistributedDataParallel()
    outputs = [Tensor(1, grad_fn=Node()), Tensor(1, grad_fn=Node()), Tensor(1)]
    assert model._post_forward(outputs) is outputs
    torch.engine.backward(outputs[0].grad_fn, outputs[1].grad_fn, ddp=lambda: order.append("ddp"))

    assert order == ["ddp"]
    assert told(out) == [("backward", "0", 0, 20)]
    assert out.notes() == []


def test_buffers_that_ddp_broadcasts_are_told_with_their_bytes(ddp: Any, out: Recorded) -> None:
    """Each time; none where they are not in the host's memory."""
    model = ddp.DistributedDataParallel()
    model._distributed_broadcast_coalesced([Tensor(5), Tensor(7)], 250, 0)
    model._distributed_broadcast_coalesced([Tensor(5)], 250)
    model._distributed_broadcast_coalesced([Tensor(5, "cuda")], 250)
    assert told(out) == [("buffers", "0", 0, 48), ("buffers", "0", 1, 20)]


@pytest.mark.parametrize(("name", "value"), [("require_backward_grad_sync", False), ("device_type", "cuda")])
def test_backwards_that_wait_for_nobody_on_the_host_are_none(
    ddp: Any, torch: Any, out: Recorded, name: str, value: object
) -> None:
    """In `no_sync`, and on GPUs."""
    model = ddp.DistributedDataParallel()
    setattr(model, name, value)
    outputs = [Tensor(1, grad_fn=Node())]
    model._post_forward(outputs)
    assert outputs[0].grad_fn.hooks == []
    assert told(out) == []


def test_how_gradients_are_put_together_is_told_as_it_stays(ddp: Any, torch: Any, out: Recorded) -> None:
    """With the line that made the model data parallel, and what the rank may compute with."""
    torch.get_num_threads = lambda: 3
    model = ddp.DistributedDataParallel()
    for _ in range(2):
        model._post_forward([Tensor(1, grad_fn=Node())])
    assert out.stream().meta["data_parallel"]["buckets"] == 2
    model.rebuilt = "8, 8, 4"
    model._post_forward([Tensor(1, grad_fn=Node())])
    told = out.stream().meta["data_parallel"]
    assert told == {"bytes": 20, "buckets": 3, "threads": 3, "cores": len(os.sched_getaffinity(0)),
                    "file": told["file"], "line": told["line"]}  # fmt: skip


def test_a_torch_that_tells_no_buckets_is_no_failure(ddp: Any, torch: Any, out: Recorded) -> None:
    """What is not known is null."""
    model = ddp.DistributedDataParallel()
    del model.buckets
    model._post_forward([Tensor(1, grad_fn=Node())])
    assert (out.stream().meta["data_parallel"]["buckets"], out.notes()) == (None, [])
