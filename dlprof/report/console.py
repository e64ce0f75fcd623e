"""What all reports on a terminal share: the console, titles, sentences and tables."""

from __future__ import annotations

import os
import re
import shutil
from typing import Any, Literal, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dlprof import color, safe_output, units

Column = tuple[str, Literal["left", "right"]]
"""Name of a column, and the side on which its texts stand."""


_NO_BREAK = "\ue000"
"""Stands for a space at which no line ends; of spaces that Unicode has rich breaks at every one."""
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:ns|µs|us|ms|s|min|h|kB|MB|GB|%)(?!\w))")
_UNCUT = 10_000
"""Columns of a table that nothing cuts."""


class ReportConsole(Console):
    """A console that ends no line with blanks, and cuts nothing where no terminal is too narrow for it.

    Attributes:
        whole: Tables, and lines that may not be folded, are printed at their full width; sentences are folded all the
            same.
        ascii: Signs of our own are replaced by ASCII.
    """

    def __init__(self, *, whole: bool, ascii_only: bool, **given: Any) -> None:
        super().__init__(**given)
        self.whole = whole
        self.ascii = ascii_only
        self.push_render_hook(_Trimming(self))

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich has it."""
        if not self.whole or not (options.get("no_wrap") or any(_would_be_cut(one) for one in objects)):
            super().print(*objects, **options)
            return
        width, self.width = self.width, _UNCUT
        try:
            super().print(*objects, **options)
        finally:
            self.width = width


def _would_be_cut(one: Any) -> bool:
    """Whether this is no sentence that can be folded."""
    if isinstance(one, Padding):
        return _would_be_cut(one.renderable)
    return isinstance(one, Table) or (isinstance(one, Text) and bool(one.no_wrap))


class _Trimming(RenderHook):
    """Has all that is printed rendered line by line, without blanks at its end."""

    def __init__(self, console: ReportConsole) -> None:
        self._console = console

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Trimmed(one, self._console) for one in renderables]


class _Trimmed:
    def __init__(self, inner: ConsoleRenderable, console: ReportConsole) -> None:
        self._inner = inner
        self._console = console

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._inner, options, pad=False):
            shown = [_safe(segment) for segment in _without_end(line)]
            yield from self._as_ascii(shown) if self._console.ascii else shown
            yield Segment.line()

    @staticmethod
    def _as_ascii(line: list[Segment]) -> list[Segment]:
        return [Segment(segment.text.translate(units.ASCII), segment.style, segment.control) for segment in line]


def _safe(segment: Segment) -> Segment:
    """A segment whose text cannot steer the terminal; what rich itself tells the terminal stays."""
    if segment.control or segment.text.isprintable():
        return segment
    return Segment(units.safe(segment.text), segment.style)


def _without_end(line: list[Segment]) -> list[Segment]:
    """A line without the blanks at its end."""
    kept = list(line)
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style, kept[-1].control)
    return kept


def make_console(file: TextIO, *, plain: bool = False) -> ReportConsole:
    """A console as wide as the terminal behind `file`, else 100 columns for sentences, and what tables need."""
    file = safe_output.trusted(file)
    terminal = file.isatty()
    if is_ascii(file, plain=False) and hasattr(file, "reconfigure"):
        file.reconfigure(errors=units.SPELLED)  # a character that cannot be shown must not end the report
    told = terminal or "COLUMNS" in os.environ
    coloured = not plain and color.wanted(file)
    return ReportConsole(
        whole=not told,
        ascii_only=is_ascii(file, plain),
        file=file,
        width=max(60, shutil.get_terminal_size((100, 24)).columns if told else 100),
        height=24,  # else rich takes 80 columns where TERM is dumb
        force_terminal=coloured,
        color_system=_colors() if coloured else None,
        no_color=not coloured,
        # Names and source lines come from the run: nothing in them is markup.
        markup=False,
        highlight=False,
        emoji=False,
    )


def _colors() -> Literal["auto", "standard"]:
    """How many there are; rich gives none where TERM is dumb, even if they are asked for."""
    return "standard" if os.environ.get("TERM", "dumb") == "dumb" else "auto"


def make_page(file: TextIO, *, plain: bool = False, typed: str | None = None) -> Page:
    """A page on a stream.

    Args:
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
        typed: What a user types for the run that is shown.
    """
    return Page(make_console(file, plain=plain), ascii_only=is_ascii(file, plain), typed=typed)


def is_ascii(file: TextIO, plain: bool) -> bool:
    """Whether only ASCII may be printed."""
    return plain or "utf" not in (getattr(file, "encoding", None) or "ascii").lower()


class Page:
    """Prints the pieces of a report, one below the other."""

    def __init__(self, console: ReportConsole, *, ascii_only: bool, typed: str | None = None) -> None:
        self.console = console
        self.ascii = ascii_only
        self.typed = typed
        """What a user types for the run that is shown; None: its name."""
        self.brief = False
        """Rows below 1 % are told together: the whole report is shown, and each section has them all."""
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
        text = text.copy()
        text.plain = _BEFORE_UNIT.sub(_NO_BREAK, text.plain)
        lines = list(text.wrap(self.console, width, overflow="fold"))
        for line in lines:
            line.rstrip()
            line.plain = line.plain.replace(_NO_BREAK, " ")
        if most is not None and len(lines) > most:
            lines[most - 1 :] = [self.cut(Text(" ").join([*lines[most - 1 : most + 1], Text(" " * width)]), width)]
        edges = [before] + [" " * len(before)] * (len(lines) - 1)
        return [Text(edge, style="dim") + line for edge, line in zip(edges, lines, strict=True)]

    def title(self, text: str, note: str = "") -> None:
        """The title of a section, after an empty line."""
        self.console.print()
        line = Text(text, style="bold") + Text(f"  {note}" if note else "", style="dim")
        line.no_wrap = self.console.whole or None  # commands in it can then be copied
        self.console.print(line)

    def table(self, *columns: Column) -> Table:
        """An empty table."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name, justify in columns:
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")
        return table

    def show(self, table: Table) -> None:
        """Print a table: all but the last column keep their width; what is too long is cut, or folded, in the last.

        Where nothing is too narrow, nothing is cut.
        """
        if not self.console.whole:
            keep_widths(table, self.console.width - 2, last_at_least=12)
        self.console.print(Padding(table, (0, 0, 0, 2)))


def keep_widths(table: Table, width: int, *, last_at_least: int) -> None:
    """Let all columns but the last be as wide as their texts; the last has what is left of `width` characters."""
    taken = 0
    for column in table.columns[:-1]:
        column.min_width = max(Text(str(cell)).cell_len for cell in [column.header, *column.cells])
        taken += column.min_width + 2
    table.columns[-1].max_width = max(last_at_least, width - taken - 1)
