"""Wrappers around reads of values of a device."""

from __future__ import annotations

from typing import Any

import pytest
from dlprof_probes.inproc import sync_wrappers


def test_calls_and_time_of_a_read_are_added_to_its_place_also_where_it_fails() -> None:
    """10 ns each; the second one raises."""
    times, place = iter((0, 10, 100, 110)), [0, 0, 0, 0]
    values = iter((1.5,))
    read = sync_wrappers.reading(
        lambda: next(values), {}, lambda _frame: place, lambda: next(times), [1000], lambda _end: None
    )

    assert read() == 1.5
    with pytest.raises(StopIteration):
        read()
    assert place == [2, 20, 0, 110]


def test_a_read_is_as_without_us_while_it_is_off() -> None:
    """Then by way of the wrapper."""
    off = [True]

    class Tensor:
        def item(self) -> str:
            return "plain"

    def wrapped(_tensor: Any) -> str:
        return "wrapped"

    setattr(Tensor, "item", sync_wrappers.Unless(Tensor.item, wrapped, lambda: off[0]))  # noqa: B010

    assert Tensor().item() == "plain"
    off[0] = False
    assert Tensor().item() == "wrapped"
