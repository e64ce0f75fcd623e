"""What all reports on a terminal share: the console, titles, sentences and tables."""

from __future__ import annotations

import os
import shutil
from typing import Literal, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

Column = tuple[str, Literal["left", "right"]]
"""Name of a column, and the side on which its texts stand."""


def make_console(file: TextIO, *, plain: bool = False) -> Console:
    """A console as wide as the terminal behind `file`, or 100 columns."""
    terminal = file.isatty()
    if is_ascii(file, plain=False) and hasattr(file, "reconfigure"):
        file.reconfigure(errors="replace")  # a character that cannot be shown must not end the report
    width = shutil.get_terminal_size((100, 24)).columns if terminal or "COLUMNS" in os.environ else 100
    return Console(
        file=file,
        width=max(60, width),
        no_color=plain or not terminal,
        # Names and source lines come from the run: nothing in them is markup.
        markup=False,
        highlight=False,
        emoji=False,
    )


def make_page(file: TextIO, *, plain: bool = False) -> Page:
    """A page on a stream.

    Args:
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
    """
    return Page(make_console(file, plain=plain), ascii_only=is_ascii(file, plain))


def is_ascii(file: TextIO, plain: bool) -> bool:
    """Whether only ASCII may be printed."""
    return plain or "utf" not in (getattr(file, "encoding", None) or "ascii").lower()


class Page:
    """Prints the pieces of a report, one below the other."""

    def __init__(self, console: Console, *, ascii_only: bool) -> None:
        self.console = console
        self.ascii = ascii_only
        self.minus = "-" if ascii_only else "−"
        """The sign of differences, as in `A − B`."""

    def say(self, text: str, style: str = "", indent: int = 0) -> None:
        """A sentence, folded where it is too long."""
        self.console.print(Padding(Text(text, style=style, overflow="fold"), (0, 0, 0, indent)))

    def line(self, text: Text) -> None:
        """A line, cut where it is too long, and without spaces up to the edge."""
        self.console.print(self.cut(text, self.console.width), no_wrap=True, overflow="ignore", crop=True)

    def cut(self, text: Text, width: int) -> Text:
        """A text of so many characters at most; where it is cut, it says so."""
        if text.cell_len <= width:
            return text
        end = "..." if self.ascii else "…"
        short = text.copy()
        short.truncate(max(1, width - len(end)))
        short.rstrip()
        return short.append(end, text.get_style_at_offset(self.console, len(short.plain) - 1))

    def wrapped(self, text: Text, before: str = "", *, most: int | None = None) -> list[Text]:
        """A text as lines that fit.

        Args:
            text: The text.
            before: Stands before the first line, in small print; the others have spaces there.
            most: So many lines at most: the last one is cut.
        """
        width = self.console.width - len(before)
        lines = list(text.wrap(self.console, width, overflow="fold"))
        for line in lines:
            line.rstrip()
        if most is not None and len(lines) > most:
            lines[most - 1 :] = [self.cut(Text(" ").join([*lines[most - 1 : most + 1], Text(" " * width)]), width)]
        edges = [before] + [" " * len(before)] * (len(lines) - 1)
        return [Text(edge, style="dim") + line for edge, line in zip(edges, lines, strict=True)]

    def title(self, text: str, note: str = "") -> None:
        """The title of a section, after an empty line."""
        self.console.print()
        self.console.print(Text(text, style="bold") + Text(f"  {note}" if note else "", style="dim"))

    def table(self, *columns: Column) -> Table:
        """An empty table."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name, justify in columns:
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")
        return table

    def show(self, table: Table) -> None:
        """Print a table: all but the last column keep their width; what is too long is cut, or folded, in the last."""
        keep_widths(table, self.console.width - 2, last_at_least=12)
        self.console.print(Padding(table, (0, 0, 0, 2)))


def keep_widths(table: Table, width: int, *, last_at_least: int) -> None:
    """Let all columns but the last be as wide as their texts; the last has what is left of `width` characters."""
    taken = 0
    for column in table.columns[:-1]:
        column.min_width = max(Text(str(cell)).cell_len for cell in [column.header, *column.cells])
        taken += column.min_width + 2
    table.columns[-1].max_width = max(last_at_least, width - taken - 1)
