"""Gradients of PyTorch that nobody uses, told from graphs, steps and gradients that are set to nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_unused
from dlprof_probes.inproc.engines.torch_unused import UnusedGradients
from dlprof_probes.inproc.probe import Probe

MS = 1_000_000


class Gradient:
    """Stands for a gradient."""

    def __init__(self) -> None:
        self._version = 0


class Parameter:
    """Stands for a weight."""

    def __init__(self) -> None:
        self._version = 0
        self.grad: Gradient | None = None

    def back(self) -> None:
        """A backward pass has come to it."""
        if self.grad is None:
            self.grad = Gradient()
        else:
            self.grad._version += 1


class Tensor:
    """Stands for an input whose gradient is wanted."""


class Optimizer:
    """Stands for an optimiser of these weights."""

    def __init__(self, *weights: Parameter) -> None:
        self.weights = list(weights)
        self.param_groups = [{"params": self.weights}]

    def zero_grad(self) -> None:
        """Set all gradients to nothing."""
        for weight in self.weights:
            weight.grad = None


class Model:
    """Stands for a module with parts of two weights each."""

    def __init__(self, **parts: list[Parameter]) -> None:
        self._parts = parts

    def named_modules(self) -> list[tuple[str, Any]]:
        """The parts, and all of it."""
        made = [(name, SimpleNamespace(parameters=lambda own=own: own)) for name, own in self._parts.items()]
        return [("", self), *made]

    def parameters(self) -> list[Parameter]:
        """Those of all parts."""
        return [weight for own in self._parts.values() for weight in own]


def node(*following: Any) -> Any:
    """A node of a graph; nodes may be keys."""
    made = type("Node", (), {})()
    made.next_functions = tuple((one, 0) for one in following)
    return made


def leaf(weight: Any) -> Any:
    """The end of a graph."""
    made = node()
    made.variable = weight
    return made


def layer(before: Any, weights: list[Parameter]) -> Any:
    """A node of two weights, behind another one."""
    return node(*([before] if before is not None else []), *map(leaf, weights))


def leaves(end: Any) -> list[Parameter]:
    """The weights that a graph leads to, each once."""
    own = getattr(end, "variable", None)
    found = [own] if isinstance(own, Parameter) else []
    return list(dict.fromkeys([*found, *(one for inner, _ in end.next_functions for one in leaves(inner))]))


def loss(end: Any) -> Any:
    """A tensor that this node gave."""
    return SimpleNamespace(grad_fn=end)


@pytest.fixture
def unused(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> UnusedGradients:
    """Nothing was seen yet; looking takes no time."""
    monkeypatch.setattr(torch_unused, "now", lambda: 0)
    return UnusedGradients(SimpleNamespace(probe=probe))


class Training:
    """Two parts of two layers, each with an optimiser: a generator and a critic, or a backbone and a head."""

    def __init__(self, unused: UnusedGradients, *, owned: bool = True) -> None:
        self.unused = unused
        self.first, self.second = [Parameter(), Parameter()], [Parameter(), Parameter()]
        self.of_first = Optimizer(*(self.first if owned else []))
        self.of_second = Optimizer(*self.second)
        self.time = MS
        self.model = Model(g=self.first, d=self.second)
        for one in (self.of_first, self.of_second):
            unused.made(one)
        unused.training([("", lambda: self.model)])
        for _ in range(3):
            unused.updated(self.of_second)

    def through_both(self) -> Any:
        """A loss that leads through the second to the first."""
        return loss(layer(layer(layer(None, self.first), self.first), self.second))

    def back(self, target: Any) -> None:
        """A backward pass of 2 ms, 4 ms after the last."""
        for weight in leaves(target.grad_fn):
            weight.back()
        if self.unused.is_on:
            self.unused.passed([target], self.time, self.time + 2 * MS, ("gan.py", 26))
        self.time += 4 * MS


def told(unused: UnusedGradients) -> dict[str, Any]:
    """The facts."""
    return unused.facts() or {}


def test_the_way_back_through_a_generator_while_the_critic_learns_is_for_nothing(unused: UnusedGradients) -> None:
    """Its optimiser sets to nothing what came of that: every second pass through it, two of three nodes."""
    training = Training(unused)
    for _ in range(7):
        training.of_second.zero_grad()
        training.back(training.through_both())
        unused.updated(training.of_second)
        training.of_first.zero_grad()
        training.back(training.through_both())
        unused.updated(training.of_first)
    facts = told(unused)

    assert (facts["passes"], facts["partly"], facts["of_layers"], facts["weights"]) == (12, 6, 0.5, 2)
    assert (facts["layers"], facts["owned"], facts["place"]) == (["g"], True, ["gan.py", 26])
    assert (facts["part"], facts["share"]) == (pytest.approx(2 / 3), pytest.approx(6 * 2 * 2 / 3 / 48))


def test_a_model_that_is_gone_when_the_training_is_over_is_told_all_the_same(unused: UnusedGradients) -> None:
    """It lived in the function that trained it: its weights and layers were taken down while it lived."""
    training = Training(unused)
    for _ in range(7):
        for optimizer in (training.of_second, training.of_first):
            optimizer.zero_grad()
            training.back(training.through_both())
            unused.updated(optimizer)
    training.first.clear()
    training.second.clear()
    training.of_first.weights.clear()
    training.of_second.weights.clear()
    facts = told(unused)

    assert (facts["weights"], facts["layers"]) == (2, ["g"])


def test_layers_that_no_optimizer_has_need_not_be_gone_through(unused: UnusedGradients) -> None:
    """A backbone whose weights stay, of which nobody said that they need no gradients."""
    training = Training(unused, owned=False)
    for _ in range(14):
        training.of_second.zero_grad()
        training.back(training.through_both())
        unused.updated(training.of_second)
    facts = told(unused)

    assert (facts["passes"], facts["partly"], facts["of_layers"]) == (12, 12, 1.0)
    assert (facts["layers"], facts["owned"]) == (["g"], False)


def test_weights_that_the_script_changes_itself_are_used(unused: UnusedGradients) -> None:
    """No optimiser has them, and they are other than before."""
    training = Training(unused, owned=False)
    for _ in range(14):
        training.back(training.through_both())
        unused.updated(training.of_second)
        training.first[0]._version += 1

    assert unused.facts() is None


def test_a_critic_on_the_way_to_the_generator_is_no_waste(unused: UnusedGradients) -> None:
    """Its gradients are set to nothing, but the way leads through it."""
    training = Training(unused)
    for _ in range(14):
        training.back(training.through_both())
        unused.updated(training.of_first)
        training.of_second.zero_grad()

    assert unused.facts() is None


def test_a_step_that_is_given_up_wastes_no_part_of_a_pass(unused: UnusedGradients) -> None:
    """All gradients are set to nothing: an overflow, or a search for the best step."""
    training = Training(unused)
    for _ in range(14):
        training.back(training.through_both())
        training.of_first.zero_grad()
        training.of_second.zero_grad()

    assert unused.facts() is None


def test_gradients_that_are_zeroed_in_place_are_thrown_away_too(unused: UnusedGradients) -> None:
    """`zero_grad(set_to_none=False)`: the tensors stay, and are written to once more than a pass does."""
    training = Training(unused)
    for _ in range(14):
        for weight in training.second:
            weight.grad = None
        training.back(training.through_both())
        unused.updated(training.of_second)
        for weight in training.first:
            assert weight.grad is not None
            weight.grad._version += 1

    assert told(unused)["partly"] == 11


def test_gradients_that_add_up_over_passes_are_used(unused: UnusedGradients) -> None:
    """Two passes, then a step of each."""
    training = Training(unused)
    for _ in range(7):
        training.back(training.through_both())
        training.back(training.through_both())
        for one in (training.of_first, training.of_second):
            unused.updated(one)
            one.zero_grad()

    assert unused.facts() is None


def test_a_weight_that_two_optimizers_have_is_used_if_one_of_them_steps(unused: UnusedGradients) -> None:
    """An encoder in common: the other one sets its gradients to nothing behind that."""
    training = Training(unused)
    both = Optimizer(*training.first, *training.second)
    unused.made(both)
    for _ in range(14):
        training.back(training.through_both())
        unused.updated(both)
        training.of_first.zero_grad()

    assert unused.facts() is None


def test_a_pass_for_the_sake_of_an_input_says_nothing_of_weights(unused: UnusedGradients) -> None:
    """An example that is to fool the model: the weights' gradients are set to nothing."""
    training = Training(unused)
    for _ in range(14):
        training.back(loss(layer(leaf(Tensor()), training.second)))
        training.of_second.zero_grad()

    assert unused.facts() is None


def test_after_twelve_passes_nobody_looks_any_more(unused: UnusedGradients) -> None:
    """Neither at what becomes of gradients."""
    training = Training(unused)
    for _ in range(14):
        training.back(training.through_both())
        unused.updated(training.of_first)
        unused.updated(training.of_second)

    assert (unused.is_on, unused.watches) == (False, False)


def test_another_training_is_looked_at_anew(unused: UnusedGradients) -> None:
    """What the one before showed is not its own."""
    training = Training(unused, owned=False)
    for _ in range(14):
        training.back(training.through_both())
        unused.updated(training.of_second)
    unused.training([])

    assert unused.facts() is None
