"""Keeps an answer to a size that an assistant can read: the longest lists and texts are cut, and it is said where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOST = 24_000
"""Characters of JSON of an answer: some 8,000 tokens."""
_STEPS = ((200, 4000), (100, 2000), (50, 1000), (25, 500), (12, 300), (6, 200), (3, 120), (1, 60))
"""Items of a list and characters of a text that are let pass, wider steps first."""


def within(answer: Mapping[str, Any], most: int = MOST) -> dict[str, Any]:
    """The same with shorter lists and texts, if it must be; `left_out` then names what was cut.

    Args:
        answer: Plain JSON.
        most: Characters of the whole, as JSON.

    Returns:
        The answer, with `left_out`: `{"where", "shown", "of"}` each; empty where nothing was cut.
    """
    made: dict[str, Any] = {**answer, "left_out": []}
    for items, characters in _STEPS:
        if len(json.dumps(made)) <= most:
            break
        left_out: list[dict[str, Any]] = []
        made = {name: _cut(value, name, items, characters, left_out) for name, value in answer.items()}
        made["left_out"] = left_out[:20]
    return made


def _cut(value: Any, where: str, items: int, characters: int, left_out: list[dict[str, Any]]) -> Any:
    if isinstance(value, dict):
        return {name: _cut(inner, f"{where}.{name}", items, characters, left_out) for name, inner in value.items()}
    if isinstance(value, list):
        if len(value) > items:
            left_out.append({"where": where, "shown": items, "of": len(value)})
        return [_cut(inner, f"{where}[{n}]", items, characters, left_out) for n, inner in enumerate(value[:items])]
    if isinstance(value, str) and len(value) > characters:
        left_out.append({"where": where, "shown": characters, "of": len(value)})
        return value[:characters] + "\N{HORIZONTAL ELLIPSIS}"
    return value
