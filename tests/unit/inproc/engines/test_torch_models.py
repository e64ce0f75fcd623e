"""The models of a torch script, and what their parts are called."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_models


class Module:
    """Stands for a module of torch, with parameters of its own and parts."""

    def __init__(self, *own: object, **parts: Module) -> None:
        self._own, self._parts = own, parts

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Its parts."""
        return iter(self._parts.items())

    def children(self) -> Iterator[Module]:
        """The same, without names."""
        return iter(self._parts.values())

    def parameters(self, recurse: bool = True) -> Iterator[object]:
        """Of its own, and of its parts."""
        yield from self._own
        for part in self._parts.values() if recurse else ():
            yield from part.parameters()

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """Itself, and all that is in it."""
        yield "", self
        for name, part in self._parts.items():
            for inner, module in part.named_modules():
                yield f"{name}.{inner}".strip("."), module


def names_of(monkeypatch: pytest.MonkeyPatch, **variables: Module) -> list[str]:
    """The names of the parts of the models in these variables, of which all parameters are trained."""
    monkeypatch.setattr(torch_models, "names_in", lambda frame: frame)
    monkeypatch.setattr(torch_models, "objects_in", lambda names: names.items())
    weights = [weight for model in variables.values() for weight in model.parameters()]
    optimizer: Any = SimpleNamespace(param_groups=[{"params": weights}])
    return [part["name"] for part in torch_models.layers(torch_models.at_hand(Module, optimizer, [variables]))]


def net() -> Module:
    """Two layers."""
    return Module(conv=Module(object()), fc=Module(object()))


@pytest.mark.parametrize("name", ["module", "_forward_module", "_orig_mod", "_fsdp_wrapped_module"])
def test_the_parts_of_a_wrapped_model_are_called_as_without_the_wrapper(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For several processes, by Fabric, compiled."""
    assert names_of(monkeypatch, model=Module(**{name: net()})) == ["conv", "fc"]


def test_wrappers_may_be_in_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled model, for several processes."""
    assert names_of(monkeypatch, model=Module(module=Module(_orig_mod=net()))) == ["conv", "fc"]


def test_a_part_of_that_name_beside_others_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user called it so."""
    found = names_of(monkeypatch, model=Module(module=net(), head=Module(object())))

    assert found == ["module", "module.conv", "module.fc", "head"]


def test_a_model_with_parameters_beside_its_part_is_no_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scale, say."""
    assert names_of(monkeypatch, model=Module(object(), module=net())) == ["module", "module.conv", "module.fc"]


def test_of_several_models_each_has_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GAN, one of which is wrapped."""
    found = names_of(monkeypatch, critic=Module(module=net()), maker=net())

    assert found == ["critic", "critic.conv", "critic.fc", "maker", "maker.conv", "maker.fc"]


def part(kind: str, *weights: bool, training: bool = True, **more: Any) -> Any:
    """A part of that class, with weights that get gradients or do not."""
    made: Any = type(kind, (Module,), {})(*(SimpleNamespace(requires_grad=one) for one in weights))
    made.training = training
    vars(made).update(more)
    return made


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (part("Linear", True, True), {"trained": True}),
        (part("Linear", False, False), {"trained": False}),
        (part("Linear", False, True), {"trained": True}),
        (part("ReLU"), {}),
        (part("Dropout", p=0.5), {"varies": True}),
        (part("Dropout", p=0.0), {}),
        (part("Dropout", p=0.5, training=False), {}),
        (part("BatchNorm2d", False, False), {"trained": False, "varies": True}),
        (part("BatchNorm2d", False, False, training=False), {"trained": False}),
    ],
)
def test_of_each_part_it_is_told_whether_it_gives_the_same_each_time(one: Any, told: dict[str, bool]) -> None:
    """Whether its weights are trained; whether chance, or the other rows of a batch, have a say."""
    (found,) = torch_models.layers([("", lambda: Module(part=one))])

    assert {key: value for key, value in found.items() if key not in ("name", "class")} == told
