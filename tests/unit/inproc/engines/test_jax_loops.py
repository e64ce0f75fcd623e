"""Which calls of compiled functions are updates of weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.jax_loops import Calls


class Array:
    """Stands for an array of JAX."""


class Own:
    """Stands for `Watch`: keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.looked = 0

    def earlier(self, _begin: int) -> str:
        self.looked += 1
        return "earlier"

    def repeated(self, _engine: Any, state: Any) -> None:
        self.updates.append((state.name, state.first))
        state.first = None


def step(*_args: Any) -> None:
    """A function of the script."""


def other(*_args: Any) -> None:
    """Another one."""


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def calls(own: Own) -> Calls:
    """No call was made yet."""
    return Calls(SimpleNamespace(probe=SimpleNamespace(own_loops=own)), lambda value: isinstance(value, Array))


def test_a_function_that_is_given_its_own_result_updates(calls: Calls, own: Own) -> None:
    """Its first call is known to be one by the second."""
    params = {"w": Array()}
    for _ in range(3):
        given, params = params, {"w": Array()}
        calls.called(step, (given, Array()), (params, Array()))

    assert own.updates == [("step", "earlier"), ("step", None)]


def test_a_gradient_that_is_given_weights_of_another_function_is_none(calls: Calls, own: Own) -> None:
    """Also if its result is made like them."""
    params = {"w": Array()}
    for _ in range(3):
        gradients = {"w": Array()}
        calls.called(other, (params, Array()), gradients)
        given, params = params, {"w": Array()}
        calls.called(step, (given, gradients), params)

    assert {name for name, _ in own.updates} == {"step"}
    assert len(own.updates) == 2


def test_two_models_that_one_function_updates_are_two_states(calls: Calls, own: Own) -> None:
    """They are told apart by what they hand on."""
    models = [{"w": Array()}, {"w": Array()}]
    for _ in range(3):
        for place, model in enumerate(models):
            models[place] = {"w": Array()}
            calls.called(step, (model,), models[place])

    assert len(own.updates) == 4


def test_functions_of_jax_itself_are_passed_over(calls: Calls, own: Own) -> None:
    """`total += loss` adds to what it gave before."""

    def add(*_args: Any) -> None:
        pass

    add.__module__ = "jax.numpy"
    total = Array()
    for _ in range(3):
        given, total = total, Array()
        calls.called(add, (given, Array()), total)

    assert own.updates == []


def test_values_that_are_only_traced_are_none(calls: Calls, own: Own) -> None:
    """A call inside of another function that is compiled."""
    for _ in range(3):
        calls.called(step, ("traced",), ("traced",))

    assert (own.updates, own.looked) == ([], 0)


def test_calls_without_a_state_are_looked_at_a_few_times(calls: Calls, own: Own) -> None:
    """An evaluation that is called ten thousand times."""
    for _ in range(10):
        calls.called(other, (Array(),), Array())

    assert own.looked == 3
