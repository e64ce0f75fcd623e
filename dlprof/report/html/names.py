"""Texts of a page's timeline and charts: cut to what can be shown, each kept once."""

from __future__ import annotations

from dataclasses import dataclass, field

_LONGEST = 300


def cut(text: str) -> str:
    """A text of which the page keeps no more than it can show."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@dataclass
class Names:
    """Texts that events have in common, each once, with its colour and with what else is said of it."""

    text: list[str] = field(default_factory=list)
    colour: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    """What its colour stands for, in the legend."""
    _known: dict[tuple[str, str, str, str], int] = field(default_factory=dict)

    def number(self, text: str, colour: str, more: str = "", kind: str = "") -> int:
        """Index of a text; a new one is kept."""
        key = cut(text), colour, cut(more), cut(kind)
        if key not in self._known:
            self._known[key] = len(self.text)
            for column, value in zip((self.text, self.colour, self.more, self.kind), key, strict=True):
                column.append(value)
        return self._known[key]
