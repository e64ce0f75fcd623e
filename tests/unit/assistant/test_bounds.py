"""Answers that an assistant can read."""

from __future__ import annotations

import json

import pytest

from dlprof.assistant import bounds


def test_a_small_answer_is_whole() -> None:
    """And it says so."""
    assert bounds.within({"a": [1, 2], "b": "text"}) == {"a": [1, 2], "b": "text", "left_out": []}


def test_long_lists_are_cut_and_it_is_said_where() -> None:
    """Short ones beside them are not."""
    made = bounds.within({"rows": list(range(10_000)), "inner": {"few": [1, 2]}}, 1000)

    assert len(json.dumps(made)) <= 1000
    assert made["inner"] == {"few": [1, 2]}
    assert made["rows"] == list(range(200))
    assert made["left_out"] == [{"where": "rows", "shown": 200, "of": 10_000}]


def test_long_texts_are_cut() -> None:
    """The sign at the end tells."""
    made = bounds.within({"claim": "x" * 9000}, 2500)

    assert made["claim"] == "x" * 2000 + "…"
    assert made["left_out"] == [{"where": "claim", "shown": 2000, "of": 9000}]


@pytest.mark.parametrize("most", [2_000, 24_000])
def test_lists_of_lists_of_texts_become_small_enough(most: int) -> None:
    """However deep."""
    made = bounds.within({"a": [{"b": ["y" * 300] * 300, "c": {"d": list("z" * 500)}} for _ in range(300)]}, most)

    assert len(json.dumps(made)) <= most
    assert made["left_out"]
