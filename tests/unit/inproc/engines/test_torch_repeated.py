"""Parts of models of PyTorch that are called again with what they were called with before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_repeated
from dlprof_probes.inproc.engines.torch_repeated import RepeatedCalls

from tests.unit.inproc.engines.telling import Told


class Tensor:
    """A tensor, by its identity, and how often it was written to."""

    def __init__(self) -> None:
        self._version = 0


class Linear:
    """A part with one weight."""

    training = True

    def __init__(self, *inner: Any) -> None:
        self.weight = Tensor()
        self._inner = inner

    def parameters(self) -> Iterator[Tensor]:
        yield self.weight

    def modules(self) -> Iterator[Any]:
        yield self
        yield from self._inner

    def forward(self, x: Any) -> Any:
        """Give it."""
        return x


class Masked(Linear):
    """One that may be given more, by name."""

    def forward(self, x: Any, mask: Any = None) -> Any:
        """Give it."""
        return x if mask is None else mask


class Dropout:
    """It draws random numbers."""

    training = True
    p = 0.1


@pytest.fixture
def told() -> Told:
    """What the probe was told."""
    return Told()


def calls(told: Told, part: Any, *tensors: Any) -> None:
    """A window in which a part called `keys` is called with these, one after the other."""
    repeated = RepeatedCalls(told, {id(part): "keys"})
    for tensor in tensors:
        repeated.after(repeated.before(part, (tensor,)))
    repeated.tell()


def test_a_part_that_is_given_the_same_tensor_is_told_with_its_line(told: Told) -> None:
    """Four calls, of which two were as the one before."""
    first, second = Tensor(), Tensor()
    calls(told, Linear(), first, first, first, second)

    assert told.spans == [("repeated_product", "keys", ("/home/t.py", 12))]
    assert told.details == [{"repeated": {"calls": 4, "same": 2}}]


def test_a_tensor_or_a_weight_that_was_written_to_is_another_one(told: Told) -> None:
    """As in each step of a training on one batch."""
    part, tensor = Linear(), Tensor()
    repeated = RepeatedCalls(told, {id(part): "keys"})
    for written in (tensor, part.weight, part.weight):
        repeated.after(repeated.before(part, (tensor,)))
        written._version += 1
    repeated.tell()

    assert told.spans == []


@pytest.mark.parametrize("part", [Masked(), Linear(Dropout())])
def test_a_part_that_may_be_given_more_or_draws_random_numbers_is_not_told(told: Told, part: Any) -> None:
    """It need not give the same."""
    tensor = Tensor()
    calls(told, part, tensor, tensor)

    assert told.spans == []


def test_parts_of_a_part_that_is_told_are_not_told_themselves(told: Told) -> None:
    """They are called again because it is."""
    inner, tensor = Linear(), Tensor()
    outer = Linear(inner)
    repeated = RepeatedCalls(told, {id(outer): "trunk", id(inner): "trunk.0"})
    for _ in range(3):
        is_again = repeated.before(outer, (tensor,))
        repeated.after(repeated.before(inner, (tensor,)))
        repeated.after(is_again)
    repeated.tell()

    assert [name for _, name, _ in told.spans] == ["trunk"]


def test_the_next_tensor_in_the_place_of_one_that_is_gone_is_another_one(told: Told) -> None:
    """No tensor is kept for it."""
    calls(told, Linear(), *(Tensor() for _ in range(9)))

    assert told.spans == []


class Watched(Tensor):
    """A tensor of the program's own class, which sees what it is asked for."""


@pytest.mark.parametrize("given", [(), (1,), (Tensor(), Tensor()), (Watched(),)])
def test_what_is_no_single_tensor_of_the_engine_is_passed_over(told: Told, given: tuple[Any, ...]) -> None:
    """Nothing fails, and nothing is asked of it."""
    part = Linear()
    repeated = RepeatedCalls(told, {id(part): "keys"})

    assert [repeated.before(part, given) for _ in range(2)] == [False, False]


def test_a_part_that_nobody_named_or_that_fails_is_passed_over(told: Told) -> None:
    """A class of the program's own may raise anywhere."""
    tensor, broken = Tensor(), object()
    repeated = RepeatedCalls(told, {id(broken): "broken"})

    assert [repeated.before(part, (tensor,)) for part in (Linear(), broken)] == [False, False]


def test_of_very_many_not_all_are_told(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model may have thousands of parts."""
    monkeypatch.setattr(torch_repeated, "_MOST", 2)
    tensor, parts = Tensor(), [Linear() for _ in range(5)]
    repeated = RepeatedCalls(told, {id(part): str(number) for number, part in enumerate(parts)})
    for part in parts * 2:
        repeated.after(repeated.before(part, (tensor,)))
    repeated.tell()

    assert len(told.spans) == 2
