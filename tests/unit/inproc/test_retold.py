"""Models that were told of already, and what makes them be told again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.retold import Retold


def layer(*inside: Any) -> Any:
    """A layer as Keras 2 and 3 keep it."""
    return SimpleNamespace(_layers=list(inside), built=True)


@pytest.fixture
def model() -> Any:
    """Two layers, one of which has one."""
    return SimpleNamespace(_layers=[layer(), layer(layer())], built=True, optimizer=SimpleNamespace(name="adam"))


@pytest.fixture
def told(model: Any) -> Retold:
    """Span 7 has the facts of the model."""
    made = Retold(id)
    made.note(model, 7)
    return made


def test_a_model_that_is_as_it_was_is_not_told_again(told: Retold, model: Any) -> None:
    """The span that has its facts is named."""
    assert told.span_of(model) == 7


def test_another_model_is_told(told: Retold) -> None:
    """Also one that has the same layers."""
    assert told.span_of(SimpleNamespace(_layers=[], built=True)) is None


def another_optimizer(model: Any) -> None:
    """Of another name."""
    model.optimizer = SimpleNamespace(name="sgd")


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model._layers.append(layer()),
        lambda model: model._layers[1]._layers.append(layer()),
        lambda model: model._layers.__setitem__(0, layer()),
        lambda model: setattr(model, "built", False),
        another_optimizer,
    ],
    ids=["a layer more", "a layer more in a layer", "another layer", "no longer built", "another optimiser"],
)
def test_a_model_that_has_changed_is_told_again(told: Retold, model: Any, change: Any) -> None:
    """Its layers have other names then, or its weights penalties."""
    change(model)

    assert told.span_of(model) is None


def test_a_model_whose_layers_cannot_be_seen_is_told_each_time() -> None:
    """Nothing says whether they are the same."""
    model, told = SimpleNamespace(layers=[]), Retold(id)
    told.note(model, 7)

    assert told.span_of(model) is None


def test_models_in_each_other_end() -> None:
    """Users keep a model in a layer of its own."""
    one = layer()
    model = SimpleNamespace(_layers=[one], built=True)
    one._layers.append(model)
    told = Retold(id)
    told.note(model, 3)

    assert told.span_of(model) == 3
