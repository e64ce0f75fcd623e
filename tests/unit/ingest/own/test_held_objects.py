"""How much Python held, as the stream tells it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.own import held_objects

PROCESS = ProcessId("host", 0, 42, 900)


def rows(**told: Any) -> list[tuple[Any, ...]]:
    """The rows of a moment, without what names the process."""
    one = held_objects.parse(json.dumps({"time_ns": 1000, **told}).encode())
    found = held_objects.table([one], PROCESS).to_pylist()
    return [(row["time_ns"], row["kind"], row["name"], row["count"], row["more_count"]) for row in found]


def test_what_was_not_counted_then_has_no_row() -> None:
    """Blocks are counted each time."""
    assert rows(blocks=7) == [(100, "blocks", None, 7, None)]


def test_types_have_how_many_more_there_are() -> None:
    """Than when objects were first counted."""
    assert rows(objects=9, tensors=0, types=[["torch.Tensor", 5, 2]]) == [
        (100, "objects", None, 9, None),
        (100, "tensors", None, 0, None),
        (100, "type", "torch.Tensor", 5, 2),
    ]


@pytest.mark.parametrize("odd", [{"time_ns": -1}, {"blocks": "many"}, {"types": [["list"]]}, {"objects": 1 << 63}])
def test_a_moment_that_makes_no_sense_is_refused(odd: dict[str, Any]) -> None:
    """Whatever it is."""
    with pytest.raises((ValueError, msgspec.ValidationError)):
        rows(**odd)
