"""Which calls of compiled functions are updates of weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines.jax import Jax
from dlprof_probes.inproc.engines.jax_by_hand import JAXByHand
from dlprof_probes.inproc.engines.jax_loops import Calls, State

NOBODY: Any = None
"""What must not be asked."""


class Array:
    """Stands for an array of JAX."""

    def __init__(self, size: int = 9, dtype: str = "float32") -> None:
        self.size = size
        self.dtype = dtype
        self.shape = (size,) if size > 1 else ()


class Gradients:
    """Stands for `Gradients`: `step` takes one, other functions do not."""

    count = 0

    def in_function(self, key: Any) -> bool:
        return bool(key[1] == "step")

    def shapes_of(self, _key: Any) -> list[Any]:
        """Of what it takes them is not looked at here."""
        return []


def leaves(value: Any) -> list[Any]:
    """As `jax.tree_util.tree_leaves`."""
    if isinstance(value, dict):
        return leaves(list(value.values()))
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (tuple, list)) else [value]


class Own:
    """Stands for `Watch`: keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.looked = self.evaluated = 0
        self.silent = self.trains = False

    def is_silent(self) -> bool:
        return self.silent

    def earlier(self, _begin: int) -> str:
        self.looked += 1
        return "earlier"

    def is_in_training(self) -> bool:
        return self.trains

    def asked(self) -> None:
        self.evaluated += 1

    def goes_on(self) -> None:
        """Not looked at here."""

    def repeated(self, _engine: Any, state: Any) -> None:
        self.updates.append((state.name, next(iter(state.earlier), None)))
        state.earlier = []
        self.trains = True


def step(*_args: Any) -> None:
    """A function of the script."""


def other(*_args: Any) -> None:
    """Another one."""


@pytest.fixture
def own() -> Own:
    """Nothing was told yet."""
    return Own()


@pytest.fixture
def gradients() -> Gradients:
    """None was taken yet."""
    return Gradients()


@pytest.fixture
def calls(own: Own, gradients: Gradients) -> Calls:
    """No call was made yet."""
    engine = SimpleNamespace(probe=SimpleNamespace(own_loops=own))
    is_array = lambda value: isinstance(value, Array)  # noqa: E731
    return Calls(engine, leaves, is_array, gradients, JAXByHand(engine, is_array))


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
    """A gradient that is asked for ten thousand times."""
    for _ in range(10):
        calls.called(step, (Array(),), Array())

    assert own.looked == 3


def test_the_weights_need_not_be_the_first_that_is_given_back(calls: Calls, own: Own) -> None:
    """`return loss, model, state`, as with Equinox."""
    params = [Array(), Array()]
    for _ in range(3):
        given, params = params, [Array(), Array()]
        calls.called(step, (Array(), given), (Array(1), params))

    assert [name for name, _ in own.updates] == ["step", "step"]


def test_a_simulation_without_a_gradient_is_no_training(calls: Calls, own: Own) -> None:
    """Its state is handed on all the same."""
    state = Array()
    for _ in range(5):
        given, state = state, Array()
        calls.called(other, (given,), state)

    assert own.updates == []


def test_an_update_by_gradients_that_were_taken_outside_counts(calls: Calls, own: Own, gradients: Gradients) -> None:
    """`jax.grad` without `jit`, and a compiled update."""
    params = Array()
    for _ in range(4):
        gradients.count += 1
        given, params = params, Array()
        calls.called(other, (given, Array()), params)

    assert [name for name, _ in own.updates] == ["other"] * 3


def test_a_key_that_is_handed_on_is_no_weight(calls: Calls, own: Own) -> None:
    """It is made of integers."""
    key = Array(2, "uint32")
    for _ in range(4):
        given, key = key, Array(2, "uint32")
        calls.called(step, (Array(), given), (key,))

    assert own.updates == []


def test_an_evaluation_that_gives_the_weights_back_is_none(calls: Calls, own: Own) -> None:
    """Flax's `nnx.jit` gives all that it was given; the training goes on with what it gave."""
    params = Array()
    for call in (step, step, other, other, other, step, step):
        given, params = params, Array()
        calls.called(call, (given, Array()), (params, Array(1)))

    assert [name for name, _ in own.updates] == ["step"] * 3


@pytest.fixture
def trained(calls: Calls) -> Array:
    """Weights after two updates."""
    params = Array()
    for _ in range(2):
        given, params = params, Array()
        calls.called(step, (given, Array()), params)
    return params


def test_a_function_that_is_given_trained_weights_and_takes_no_gradient_evaluates(
    calls: Calls, own: Own, trained: Array
) -> None:
    """Each call of it, and none that is given other arrays."""
    for given in (trained, trained, Array()):
        calls.called(other, (given, Array()), Array(1))

    assert own.evaluated == 2


def test_what_makes_other_weights_of_those_that_are_trained_evaluates_nothing(
    calls: Calls, own: Own, trained: Array
) -> None:
    """Their average."""
    calls.called(other, (trained, Array()), Array())

    assert own.evaluated == 0


def test_a_function_that_was_called_before_the_training_may_make_what_that_learns_from(calls: Calls, own: Own) -> None:
    """An agent acts, and learns from what came of it."""
    params = Array()
    for _ in range(3):
        calls.called(other, (params, Array()), Array(1))
        given, params = params, Array()
        calls.called(step, (given, Array()), params)

    assert own.evaluated == 0


def test_a_compiled_gradient_beside_a_compiled_update_is_no_update(calls: Calls, own: Own) -> None:
    """`params = update(params, gradient(params))`: each call of `update` is one, and nothing else."""
    params = Array()
    for _ in range(5):
        gradient = Array()
        calls.called(step, (params, Array()), gradient)
        given, params = params, Array()
        calls.called(other, (given, gradient), params)

    assert [name for name, _ in own.updates] == ["other"] * 4


def test_under_keras_and_marks_no_array_is_looked_at(gradients: Gradients, own: Own) -> None:
    """Keras's own step hands the weights on, too, and has many of them."""
    seen: list[Any] = []

    def looked(tree: Any) -> list[Any]:
        seen.append(tree)
        return []

    own.silent = True
    engine = SimpleNamespace(probe=SimpleNamespace(own_loops=own))
    Calls(engine, looked, lambda _: True, gradients, NOBODY).called(step, (Array(),), Array())

    assert seen == []


def test_arrays_are_never_compared(calls: Calls, own: Own) -> None:
    """Theirs is one truth value for each element."""

    class Strict(Array):
        def __eq__(self, _other: object) -> bool:
            raise TypeError

        __hash__ = None  # type: ignore[assignment]

    params = [(Strict(), ()), ()]
    for _ in range(3):
        given, params = params, [(Strict(), ()), ()]
        calls.called(step, (given,), params)

    assert len(own.updates) == 2


def test_what_is_trained_tells_its_type() -> None:
    """The arrays that stand for a state; of two types that of most numbers."""
    state, engine = State("step"), Jax.__new__(Jax)
    arrays = [Array(9, "float32"), Array(100, "float64")]
    state.hold(arrays)

    assert engine.trained_weights(state) == {"dtype": "float64"}
    assert engine.trained_weights(object()) is None
