"""Rows of the screen as what a terminal is sent."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.segment import Segment

from dlprof.live.rows import PLAIN, Row
from dlprof.units import safe

_COLOURS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}


class Painter:
    """Sends only rows that changed.

    Args:
        colours: rich's name of what the terminal can do: `truecolor`, `256`, `standard`; None: no colours.
    """

    def __init__(self, colours: str | None) -> None:
        self._colours = _COLOURS.get(colours or "")
        self._before: list[Row] = []

    def forget(self) -> None:
        """The terminal was cleared."""
        self._before = []

    def frame(self, rows: list[Row]) -> str:
        """What turns the frame before into this one."""
        parts = []
        for number, row in enumerate(rows):
            if number >= len(self._before) or row != self._before[number]:
                parts.append(f"\x1b[{number + 1};1H" + "".join(map(self._segment, row)))
        self._before = rows
        return "".join(parts)

    def _segment(self, segment: Segment) -> str:
        style = segment.style or PLAIN
        return style.render(safe(segment.text), color_system=self._colours)
