"""Shapes of the batches that a script gives itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dlprof_probes.inproc.batch_shapes import BatchShapes


def told(*shapes: Any) -> list[dict[str, Any]]:
    """What is said of batches of these shapes."""
    found: list[dict[str, Any]] = []
    batches = BatchShapes(found.append)
    for shape in shapes:
        batches.seen(SimpleNamespace(shape=shape))
    return found


def test_batches_of_one_shape_are_not_spoken_of() -> None:
    """A hundred of them."""
    assert told(*[(64, 8)] * 100) == []


def test_those_that_are_not_of_the_usual_shape_are_counted() -> None:
    """After 32 batches, after 64, and so on."""
    assert told(*[(64, 8)] * 30, *[(128, 8)] * 34) == [{"unusual_batches": [2, 32]}, {"unusual_batches": [30, 64]}]


def test_what_has_no_shape_is_of_one_shape() -> None:
    """Lists of arrays, for example."""
    assert told(*[None] * 64) == []
