"""The table of lines per function, in the form that users of line_profiler know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from dlprof.analysis.lines import FunctionLines, Line
from dlprof.report.console import make_console
from dlprof.store.run import Run
from dlprof.units import duration, safe

_HEAD = f"{'Line #':>6}  {'Hits':>9}  {'Time (ms)':>12}  {'Per Hit (ms)':>13}  {'% Time':>6}  Line Contents"


def print_tables(run: Run, functions: Sequence[FunctionLines], *, file: TextIO, plain: bool = False) -> None:
    """Print one table per function.

    Args:
        run: The run, for what to say when there is nothing.
        functions: In the order in which they are to be shown.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
    """
    console = make_console(file, plain=plain)
    if not functions:
        probe = next((row for row in run.rows("probes") if row["name"] == "lines"), {})
        console.print(f"No line was measured, because {safe(probe.get('reason') or 'no profiled function ran')}.")
    for function in functions:
        console.print(Text(f"\n{safe(function.function)}  {safe(function.file)}:{function.first_line}", style="bold"))
        console.print(Text(f"total {duration(function.total_ns)}; a line's time contains what it calls", style="dim"))
        console.print(Text(_HEAD, style="dim"))
        for line in function.lines:
            share = line.time_ns / function.total_ns if function.total_ns else 0.0
            console.print(_line(line, share), no_wrap=True, overflow="ellipsis", crop=True)


def _line(line: Line, share: float) -> Text:
    source = safe((line.source or "").replace("\t", "    "))
    if not line.hits:
        return Text(f"{line.line:>6}  {'':>9}  {'':>12}  {'':>13}  {'':>6}  {source}", style="dim")
    per_hit = line.time_ns / 1e6 / line.hits
    text = (
        f"{line.line:>6}  {line.hits:>9}  {line.time_ns / 1e6:>12.3f}  {per_hit:>13.4f}  {100 * share:>6.1f}  {source}"
    )
    return Text(text, style="bold yellow" if share >= 0.1 else "")
