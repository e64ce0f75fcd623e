"""Words from outside in Markdown, as they are."""

from __future__ import annotations

from dlprof.units import safe

_SPECIAL = frozenset("`*_{}[]()#+-.!~")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\\": "&#92;", "|": "&#124;"}


def plain(value: str) -> str:
    """Words from outside as they are: nothing in them is Markdown or HTML."""
    return "".join(_ENTITIES.get(c) or (f"\\{c}" if c in _SPECIAL else c) for c in safe(value))
