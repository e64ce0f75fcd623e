"""Gradients of Gluon that no `Trainer` takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.mxnet_unused import UnusedGradients
from dlprof_probes.inproc.probe import Probe


class Parameter:
    """Stands for a parameter of one array."""

    def __init__(self, grad_req: str = "write", lr_mult: float = 1.0) -> None:
        self.grad_req, self.lr_mult = grad_req, lr_mult
        self._data = [SimpleNamespace(_fresh_grad=False)]

    def grad(self) -> None:
        """What the script asks for."""

    def list_grad(self) -> None:
        """What a trainer asks for."""


class Trainer:
    """Stands for one that takes the gradients of these."""

    def __init__(self, *parameters: Parameter) -> None:
        self._params = list(parameters)

    def step(self) -> None:
        """Take them, also those at a rate of nothing."""
        for parameter in self._params:
            parameter.list_grad()
            parameter._data[0]._fresh_grad = False

    def update(self) -> None:
        """The same, without what goes before it."""


class Block:
    """Stands for a block with parameters of its own, and blocks inside."""

    def __init__(self, name: str, *parameters: Parameter, inside: tuple[Any, ...] = ()) -> None:
        self.name = name
        self._reg_params = {str(number): one for number, one in enumerate(parameters)}
        self._children = {str(number): one for number, one in enumerate(inside)}


class Net:
    """A block of a body that stays as it is, and a head that learns."""

    def __init__(self, probe: Probe) -> None:
        self.gluon = SimpleNamespace(
            Trainer=type("Trainer", (Trainer,), dict(Trainer.__dict__)),
            Parameter=type("Parameter", (Parameter,), dict(Parameter.__dict__)),
        )
        self.body, self.head = self.gluon.Parameter(), self.gluon.Parameter()
        self.block = Block("net", inside=(Block("body", self.body), Block("relu"), Block("head", self.head)))
        self.unused = UnusedGradients(SimpleNamespace(probe=probe), lambda: [self.block])
        self.unused.watch(self.gluon)

    def train(self, trainer: Trainer, steps: int) -> None:
        """Each backward pass writes to all that want a gradient."""
        for _ in range(steps):
            for one in (self.body, self.head):
                one._data[0]._fresh_grad = one.grad_req != "null"
            trainer.step()


@pytest.fixture
def net(probe: Probe) -> Net:
    """Listened to."""
    return Net(probe)


def test_a_block_that_no_trainer_has_is_told(net: Net) -> None:
    """Six steps, of which the first three are not looked at."""
    net.train(net.gluon.Trainer(net.head), 6)

    assert net.unused.facts() == {
        "passes": 3, "partly": 3, "share": None, "layers": ["body"], "of_layers": 1.0, "weights": 1, "owned": False,
    }  # fmt: skip


def test_a_rate_of_nothing_takes_no_gradient(net: Net) -> None:
    """`lr_mult` of 0: the trainer has the weights, and leaves them as they are."""
    net.body.lr_mult = 0.0
    net.train(net.gluon.Trainer(net.body, net.head), 6)

    facts = net.unused.facts()
    assert facts is not None
    assert facts["layers"] == ["body"]


def test_a_block_that_wants_no_gradient_is_not_told(net: Net) -> None:
    """It was taken out of the way back as it should be."""
    net.body.grad_req = "null"
    net.train(net.gluon.Trainer(net.head), 6)

    assert net.unused.facts() is None


def test_what_another_trainer_takes_is_used(net: Net) -> None:
    """Two of them, one after the other."""
    other = net.gluon.Trainer(net.body)
    net.train(net.gluon.Trainer(net.head), 6)

    assert other is not None
    assert net.unused.facts() is None


def test_what_the_script_asks_for_itself_is_used(net: Net) -> None:
    """It writes to its weights by hand, say."""
    trainer = net.gluon.Trainer(net.head)
    net.train(trainer, 5)
    net.body.grad()
    net.train(trainer, 1)

    assert net.unused.facts() is None


def test_no_more_than_some_steps_are_looked_at(net: Net) -> None:
    """A training has many."""
    net.train(net.gluon.Trainer(net.head), 100)

    facts = net.unused.facts()
    assert facts is not None
    assert facts["passes"] == 12


def test_each_training_is_told_by_itself(net: Net) -> None:
    """The second one has no steps."""
    net.train(net.gluon.Trainer(net.head), 6)
    net.unused.training()

    assert net.unused.facts() is None
