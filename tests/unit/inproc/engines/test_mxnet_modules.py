"""MXNet's modules without Keras."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.mxnet_modules import ModuleLoops
from dlprof_probes.inproc.probe import Probe

NODES = [
    ("null", "data", []),
    ("null", "body_weight", []),
    ("FullyConnected", "body", [0, 1]),
    ("Activation", "relu", [2]),
    ("null", "head_weight", []),
    ("FullyConnected", "head", [3, 4]),
]
"""Operator, name and inputs of each node of a body and a head."""


class Module:
    """Stands for a module, bound and with an optimiser."""

    def __init__(self, lr_mult: dict[str, float] | None = None, **grad_req: str) -> None:
        nodes = [{"op": op, "name": name, "inputs": [[one, 0, 0] for one in inputs]} for op, name, inputs in NODES]
        requests = {"data": "null", "body_weight": "write", "head_weight": "write", **grad_req}
        self.symbol = SimpleNamespace(tojson=lambda: json.dumps({"nodes": nodes}))
        self._exec_group = SimpleNamespace(grad_req=requests)
        self._optimizer = SimpleNamespace(lr_mult=lr_mult or {})
        self.for_training = True

    def init_optimizer(self) -> None:
        """It has one."""

    def forward(self, batch: object, is_train: bool | None = None) -> None:
        """Of a batch."""

    def update(self) -> None:
        """Of its weights."""


class DataIter:
    """Stands for what all iterators of MXNet are."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size
        self.left = 3

    def __iter__(self) -> DataIter:
        return self

    def __next__(self) -> int:
        return self.next()

    def next(self) -> int:
        """The next batch."""
        if not self.left:
            raise StopIteration
        self.left -= 1
        return self.left


class Own:
    """Keeps what is told of loops."""

    def __init__(self) -> None:
        self.optimizers: list[Any] = []
        self.events: list[Any] = []
        self.tests: list[Callable[[], bool]] = []

    def update(self, _engine: object, optimizer: Any, _begin: int) -> None:
        """Weights were changed."""
        self.optimizers.append(optimizer)

    def asking(self, tests: Callable[[], bool]) -> Callable[[Any], None]:
        """An item is asked for."""
        return lambda _iterator: self.events.append("tests" if tests() else "trains")

    def ending(self, _tests: Callable[[], bool]) -> Callable[[Any], None]:
        """There are no more."""
        return lambda _iterator: self.events.append("over")

    def opened(self, _iterator: object, _begin: int, facts: dict[str, Any]) -> None:
        """One is iterated."""
        self.events.append(facts)

    def given(self, _iterator: object, item: int) -> None:
        """It gave an item."""
        self.events.append(item)


class Watched:
    """Modules and iterators that are listened to."""

    def __init__(self, probe: Probe) -> None:
        self.own = Own()
        self.module = type("Module", (Module,), dict(Module.__dict__))
        self.iterator = type("DataIter", (DataIter,), dict(DataIter.__dict__))
        real, probe.own_loops = probe.own_loops, self.own
        self.made: list[bool] = []
        self.loops = ModuleLoops(SimpleNamespace(probe=probe), lambda: self.made.append(True))
        names = {"mod": SimpleNamespace(Module=self.module), "io": SimpleNamespace(DataIter=self.iterator)}
        self.loops.watch(SimpleNamespace(**names))
        probe.own_loops = real

    def updated(self, module: Module) -> Any:
        """What was for nothing in five updates."""
        for _ in range(5):
            module.update()
        return self.loops.unused()


@pytest.fixture
def watched(probe: Probe) -> Watched:
    """From now on."""
    return Watched(probe)


def test_an_update_is_that_of_the_optimiser(watched: Watched) -> None:
    """Modules of several buckets share one."""
    module = watched.module()
    module.init_optimizer()
    module.update()

    assert (watched.own.optimizers, watched.made) == ([module._optimizer], [True])


def test_batches_of_an_iterator_are_told_with_their_rows(watched: Watched) -> None:
    """From its first to its end."""
    assert list(watched.iterator(16)) == [2, 1, 0]

    assert watched.own.events == [{"batch_size": 16}, "trains", 2, "trains", 1, "trains", 0, "trains", "over"]


def test_an_iterator_of_the_scripts_own_that_asks_its_base_gives_one_batch(watched: Watched) -> None:
    """Its class is known when the first one is made."""

    class Doubled(watched.iterator):  # type: ignore[name-defined, misc]
        def __next__(self) -> int:
            return 2 * int(super().__next__())

    assert list(Doubled(8)) == [4, 2, 0]

    assert watched.own.events == [{"batch_size": 8}, "trains", 4, "trains", 2, "trains", 0, "trains", "over"]


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (lambda module: module.forward(0, is_train=False), "tests"),
        (lambda module: module.forward(0, False), "tests"),
        (lambda module: module.forward(0), "trains"),
        (lambda module: module.forward(0, is_train=True), "trains"),
    ],
)
def test_a_batch_that_goes_through_without_training_is_of_a_test(
    watched: Watched, called: Callable[[Module], None], expected: str
) -> None:
    """A module that is bound for training trains unless it is told not to."""
    called(watched.module())
    next(iter(watched.iterator()))

    assert watched.own.events[1] == expected


def test_the_way_back_to_weights_at_a_rate_of_nothing_is_told(watched: Watched) -> None:
    """All up to the first layer that learns."""
    unused = watched.updated(watched.module({"body_weight": 0.0}))

    assert unused == {
        "passes": 5, "partly": 5, "share": None, "layers": ["body", "relu"], "of_layers": 1.0, "weights": 1,
        "owned": False,
    }  # fmt: skip


def test_behind_a_layer_that_learns_gradients_are_handed_on(watched: Watched) -> None:
    """The head stays as it is, the body learns."""
    assert watched.updated(watched.module({"head_weight": 0.0})) is None


def test_weights_without_a_gradient_cost_none(watched: Watched) -> None:
    """Fixed parameters of the module."""
    assert watched.updated(watched.module({"body_weight": 0.0}, body_weight="null")) is None
