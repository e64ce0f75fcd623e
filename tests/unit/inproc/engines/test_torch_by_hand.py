"""Weights of PyTorch that a program changes itself: told from the graph of a loss and from what is in the tensors."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_by_hand
from dlprof_probes.inproc.engines.torch_by_hand import Leaves, TorchByHand
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.engines.own_updates import Own, engine


class Tensor:
    """Stands for a tensor of four floats on the CPU."""

    device = SimpleNamespace(type="cpu")

    def __init__(self, grad_fn: Any = None) -> None:
        self.memory = (ctypes.c_float * 4)()
        self._version = 0
        self.grad_fn = grad_fn

    def is_contiguous(self) -> bool:
        """It is."""
        return True

    def numel(self) -> int:
        """Numbers."""
        return 4

    def element_size(self) -> int:
        """Bytes of one."""
        return 4

    def data_ptr(self) -> int:
        """Where they are."""
        return ctypes.addressof(self.memory)


def node(*following: Any, variable: Any = None) -> Any:
    """A node of a graph; with a variable: a leaf."""
    made = type("Node", (), {"__slots__": ("next_functions", "variable")})()
    made.next_functions = tuple((one, 0) for one in following)
    made.variable = variable
    return made


def test_a_change_in_place_is_counted_by_the_tensor_itself() -> None:
    """`weight -= ...`."""
    weight = Tensor()
    leaves = Leaves([weight])
    weight._version += 1

    assert (leaves.have_changed(), leaves.have_changed()) == (True, False)


def test_a_change_behind_the_tensors_back_is_seen_in_its_memory() -> None:
    """`weight.data -= ...` counts no version."""
    weight = Tensor()
    leaves = Leaves([weight])
    weight.memory[3] = 1.0

    assert (leaves.have_changed(), leaves.have_changed()) == (True, False)


def test_memory_is_left_alone_once_versions_tell() -> None:
    """What was read before is old by then."""
    weight = Tensor()
    leaves = Leaves([weight])
    weight.memory[3] = 1.0
    weight._version += 1

    assert leaves.have_changed()
    weight.memory[3] = 2.0
    assert not leaves.have_changed()


def test_all_leaves_of_a_graph_are_found_once() -> None:
    """From the last layer to the first; a node that is met twice, and an input without a gradient, are nothing."""
    first, second = Tensor(), Tensor()
    shared = node(node(variable=first))
    graph = node(node(variable=second), shared, shared, None)

    assert list(torch_by_hand._leaves([graph], 100)) == [second, first]


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def by_hand(own: Own, probe: Probe) -> TorchByHand:
    """Nothing was seen yet."""
    return TorchByHand(engine(own, probe), SimpleNamespace(is_on=False))


@pytest.fixture
def autograd(by_hand: TorchByHand) -> Any:
    """A stand-in of torch's, which is listened to."""
    made = type("autograd", (), dict.fromkeys(("backward", "grad"), lambda *_args: None))
    by_hand.watch(SimpleNamespace(autograd=made))
    return made


def test_backward_passes_of_weights_that_change_are_updates(autograd: Any, own: Own) -> None:
    """Five passes, a change behind each: five updates, the first two known to be some by the third."""
    weight = Tensor()
    for _ in range(5):
        autograd.backward(Tensor(node(node(variable=weight))))
        weight._version += 1

    assert own.updates == 5


def test_passes_that_go_back_to_other_weights_each_time_are_none(autograd: Any, own: Own) -> None:
    """As of a batch whose gradient is wanted."""
    kept = []
    for _ in range(5):
        kept.append(Tensor())
        autograd.backward(Tensor(node(node(variable=kept[-1]))))
        kept[-1]._version += 1

    assert own.updates == 0


def test_nothing_is_looked_at_once_an_optimiser_was_made(autograd: Any, by_hand: TorchByHand, own: Own) -> None:
    """But for graphs that are kept, for another gradient of the same loss."""
    by_hand.optimiser_made()
    weight = Tensor()
    loss = Tensor(node(node(variable=weight)))
    for _ in range(5):
        autograd.backward(loss)
        weight._version += 1
    autograd.grad(loss, weight, None, False)
    assert (own.updates, own.gradients) == (0, [])

    autograd.grad(loss, weight, True)

    assert own.gradients == [loss]


def test_weights_whose_graph_is_kept_are_trained(autograd: Any, own: Own) -> None:
    """`weight = weight - rate * weight.grad`: the leaf stays as it is, and each pass goes one node further back.

    The sixth is the first change that is seen: it and the fifth are told with the seventh.
    """
    weight = Tensor()
    end = node(variable=weight)
    for _ in range(9):
        end = node(end)
        autograd.backward(Tensor(end))

    assert own.updates == 5


def test_a_graph_that_is_kept_is_not_gone_through_again(autograd: Any, own: Own) -> None:
    """It may have thousands of nodes: no leaf is looked for any more."""
    weight = Tensor()
    end = node(variable=weight)
    for _ in range(9):
        end = node(end)
        autograd.backward(Tensor(end))
        seen = own.updates
    autograd.backward(Tensor(None))

    assert own.updates == seen + 1


def test_passes_of_changing_length_are_no_training(autograd: Any, own: Own) -> None:
    """Sentences of 3, 5, 2, 4 ... words, whose gradients are wanted."""
    weight = Tensor()
    for length in (3, 5, 2, 4, 6, 3, 5, 7, 2, 4, 6):
        end = node(variable=weight)
        for _ in range(length):
            end = node(end)
        autograd.backward(Tensor(end))

    assert own.updates == 0
