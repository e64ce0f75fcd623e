"""What autograd keeps for the backward pass of a step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc.engines.torch_saved import SavedTensors

SPANS: list[Any] = []
PROBE: Any = SimpleNamespace(
    calls=[0],
    recorder=SimpleNamespace(complete=lambda kind, name, start, end: SPANS.append((kind, name, end >= start))),
    guard=lambda hook: hook,
    replace=lambda owner, name, make, again=False: setattr(owner, name, make(getattr(owner, name))),
    around=lambda owner, name, enter, _leave: setattr(owner, name, lambda self: enter((self,))),
)


class Type:
    """A type of numbers."""

    def __init__(self, name: str) -> None:
        self._name, self.is_floating_point = name, "float" in name

    def __str__(self) -> str:
        return f"torch.{self._name}"


HALF, SINGLE, WHOLE = Type("bfloat16"), Type("float32"), Type("int64")


class Tensor:
    """A view of a storage."""

    def __init__(self, place: int, size: int, node: Any = None, dtype: Type = SINGLE) -> None:
        self.grad_fn, self.dtype = node, dtype
        self._storage = SimpleNamespace(data_ptr=lambda: place, nbytes=lambda: size)

    def untyped_storage(self) -> Any:
        """Where it lies."""
        return self._storage


class Node:
    """A node that saved two values, and one that was changed in place."""

    def __init__(self, first: Any, second: Any, *behind: Any) -> None:
        self._saved_self, self._saved_result = first, second
        self.next_functions = [(one, 0) for one in behind]

    _saved_self = _saved_result = None

    @property
    def _saved_other(self) -> Any:
        raise RuntimeError("one of the variables was modified by an inplace operation")


class Leaf:
    """A node that adds to the gradient of a parameter."""

    def __init__(self, weight: Tensor) -> None:
        self.variable, self.next_functions = weight, ()


def torch() -> Any:
    """A module with what is hooked."""
    hooks = type("saved_tensors_hooks", (), {"__enter__": lambda self: self, "__exit__": lambda *_: None})
    graph = SimpleNamespace(saved_tensors_hooks=hooks)
    return SimpleNamespace(autograd=SimpleNamespace(graph=graph, backward=lambda *_args, **_more: "done"))


def loss() -> Tensor:
    """Of a product and an activation: batch of 100, weights of 7, result of 40 that both have saved."""
    weights, batch, result = Tensor(1, 7), Tensor(2, 100), Tensor(3, 40)
    product = Node(batch, weights, Leaf(weights), None)
    return Tensor(4, 4, Node(result, result, product))


def test_each_storage_counts_once_and_parameters_do_not() -> None:
    """100 of the batch and 40 of the result; what was changed in place is passed over."""
    module, kept = torch(), SavedTensors(PROBE)
    kept.watch(module)

    assert module.autograd.backward((loss(),)) == "done"
    assert kept.bytes == 140


def test_the_first_three_passes_are_looked_at() -> None:
    """A larger one behind them is not."""
    module, kept = torch(), SavedTensors(PROBE)
    kept.watch(module)
    for _ in range(3):
        module.autograd.backward(loss())
    module.autograd.backward(Tensor(4, 4, Node(Tensor(9, 900), None)))

    assert kept.bytes == 140


def test_where_saved_tensors_are_packed_nothing_is_looked_at() -> None:
    """To look at one computes it anew."""
    module, kept = torch(), SavedTensors(PROBE)
    kept.watch(module)
    with module.autograd.graph.saved_tensors_hooks():
        module.autograd.backward(loss())

    assert kept.bytes is None


def test_functions_of_the_scripts_own_have_saved_tensors() -> None:
    """`ctx.save_for_backward`."""
    module, kept = torch(), SavedTensors(PROBE)
    kept.watch(module)
    module.autograd.backward(Tensor(4, 4, SimpleNamespaceNode(saved_tensors=(Tensor(5, 60), None), next_functions=())))

    assert kept.bytes == 60


class SimpleNamespaceNode(SimpleNamespace):
    """One that can be in a set."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def test_what_it_costs_is_told() -> None:
    """Each look is a span of our own; a pass behind them counts as a hook."""
    module, kept = torch(), SavedTensors(PROBE)
    SPANS.clear()
    PROBE.calls[0] = 0
    kept.watch(module)
    for _ in range(5):
        module.autograd.backward(loss())

    assert SPANS == [("dlprof", "look at saved tensors", True)] * 3
    assert PROBE.calls == [2]


def test_floats_are_told_by_their_type() -> None:
    """Casts that are automatic leave weights of 32 bits, and what is kept in 16; whole numbers are no floats."""
    module, kept = torch(), SavedTensors(PROBE)
    kept.watch(module)
    behind = Node(Tensor(5, 8), Tensor(6, 2, dtype=WHOLE))
    module.autograd.backward(Tensor(4, 4, Node(Tensor(5, 8), Tensor(7, 90, dtype=HALF), behind)))

    assert kept.floats == {"float32": 8, "bfloat16": 90}
