"""What the screen is made of: rows of styled segments, and the signs that a terminal can show.

Rows are made by hand out of rich's segments, without rich's layouts and tables: those take tens of milliseconds for a
screen, and this is drawn four times a second beside a run that is being measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from dlprof.units import bar

Row: TypeAlias = list[Segment]

PLAIN = Style()
DIM = Style(dim=True)
BOLD = Style(bold=True)
HEAD = Style(bold=True, reverse=True)
TITLE = Style(color="cyan")
BAR = Style(color="green")
WARN = Style(color="yellow")
BAD = Style(color="red", bold=True)


@dataclass(frozen=True)
class Signs:
    """Signs for lines and bars.

    Attributes:
        ascii_only: No block characters: the terminal's encoding lacks them.
    """

    ascii_only: bool = False

    @property
    def dot(self) -> str:
        """What stands between two parts of a line."""
        return " - " if self.ascii_only else " · "

    @property
    def blocks(self) -> str:
        """Eight signs, from low to high."""
        return "_.:-=+*#" if self.ascii_only else "▁▂▃▄▅▆▇█"

    def title(self, text: str, width: int) -> Row:
        """The heading of a panel: a line of that width around the text."""
        line = "-" if self.ascii_only else "─"
        text = f"{line} {text} "
        return [Segment(text + line * max(0, width - cell_len(text)), TITLE)]

    def bar(self, share: float, width: int) -> Segment:
        """A bar that fills its share of the width."""
        width = max(0, width)
        return Segment(bar(share, width, ascii_only=self.ascii_only).ljust(width), BAR)


def text(rows: Iterable[Row]) -> list[str]:
    """The rows without their styles."""
    return ["".join(segment.text for segment in row) for row in rows]
