"""What all reports on a terminal share: the console, titles, sentences and tables."""

from __future__ import annotations

import os
import shutil
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


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


def is_ascii(file: TextIO, plain: bool) -> bool:
    """Whether only ASCII may be printed."""
    return plain or "utf" not in (getattr(file, "encoding", None) or "ascii").lower()


class Page:
    """Prints the pieces of a report, one below the other."""

    def __init__(self, console: Console, *, ascii_only: bool) -> None:
        self.console = console
        self.ascii = ascii_only

    def say(self, text: str, style: str = "", indent: int = 0) -> None:
        """A sentence, folded where it is too long."""
        self.console.print(Padding(Text(text, style=style, overflow="fold"), (0, 0, 0, indent)))

    def title(self, text: str, note: str = "") -> None:
        """The title of a section, after an empty line."""
        self.console.print()
        self.console.print(Text(text, style="bold") + Text(f"  {note}" if note else "", style="dim"))

    def table(self, *columns: tuple[str, str]) -> Table:
        """An empty table: (name, `left` or `right`) of each column."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name, justify in columns:
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
        return table

    def show(self, table: Table) -> None:
        """Print a table: all but the last column keep their width; what is too long is cut, or folded, in the last."""
        taken = 2
        for column in table.columns[:-1]:
            column.min_width = max(Text(str(cell)).cell_len for cell in [column.header, *column.cells])
            taken += column.min_width + 2
        table.columns[-1].max_width = max(12, self.console.width - taken - 1)
        self.console.print(Padding(table, (0, 0, 0, 2)))
