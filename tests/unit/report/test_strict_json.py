"""JSON that every reader takes."""

from __future__ import annotations

import json

from dlprof.report import strict_json


def test_numbers_that_json_does_not_have_are_texts() -> None:
    """As deep as they stand."""
    content = {"a": [float("nan"), (float("inf"), 1)], "b": {"c": -float("inf")}}

    assert json.loads(strict_json.dumps(content)) == {"a": ["NaN", ["Infinity", 1]], "b": {"c": "-Infinity"}}


def test_other_values_are_written_as_json_does() -> None:
    """With the same settings."""
    assert strict_json.dumps({"a": 1.5}, separators=(",", ":")) == '{"a":1.5}'
