"""What stands between loaders and who asks them: items are passed on, and waits for them are known."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import batch_wrappers

from tests.unit.inproc.conftest import Clock

HERE = threading.get_ident


def step() -> Any:
    """What these wrappers need of a loop."""
    return SimpleNamespace(begin=0, waited=0)


def test_a_step_waits_for_its_batch(now: Clock) -> None:
    """Only inside a step, and also where the batches are at their end."""

    def batches() -> Iterator[int]:
        now.ns += 30
        yield 7
        now.ns += 40

    loop = step()
    current: dict[int, Any] = {HERE(): loop}
    given = batch_wrappers.giving_batches(batches, current, now)()
    loop.begin = 1

    assert next(given) == 7
    assert loop.waited == 30
    with pytest.raises(StopIteration):
        next(given)
    assert loop.waited == 70


@pytest.mark.parametrize("loop", [None, step()])
def test_a_batch_outside_a_step_is_no_wait_of_one(now: Clock, loop: Any) -> None:
    """Whoever fetches it."""
    given = batch_wrappers.Batches([1, 2], {HERE(): loop}, now)

    assert list(given) == [1, 2]
    assert loop is None or loop.waited == 0


def test_an_iterator_of_batches_keeps_its_other_names(now: Clock) -> None:
    """Also as a copy."""

    class Source(list):  # type: ignore[type-arg]
        size = 3

    given = batch_wrappers.Batches(Source([1, 2]), {}, now)

    assert given.size == 3
    assert copy.copy(given).size == 3
    with pytest.raises(AttributeError):
        _ = given.absent


def test_items_of_a_generator_are_told() -> None:
    """When each is asked for, when it is given, and that there are no more; the rest is the generator's."""
    told: list[str] = []

    def make(_loader: Any) -> Any:
        yield from "ab"

    opened = batch_wrappers.giving_items(
        make,
        lambda _loader, _items, begin: told.append(f"opened {begin}"),
        lambda _items: told.append("asked"),
        lambda _items, item: told.append(f"given {item}"),
        lambda _items: told.append("over"),
        lambda: 7,
    )
    items = opened(None)

    assert (list(items), items.gi_frame) == (["a", "b"], None)
    assert told == ["opened 7", "asked", "given a", "asked", "given b", "asked", "over"]


def test_what_a_loader_raises_passes() -> None:
    """It gives no more then."""
    told: list[str] = []

    def broken(_items: Any) -> Any:
        raise KeyError("row")

    give = batch_wrappers.iterating(
        broken, lambda _: told.append("asked"), lambda _: told.append("given"), lambda _: told.append("over")
    )
    with pytest.raises(KeyError):
        give(None)

    assert told == ["asked", "over"]
