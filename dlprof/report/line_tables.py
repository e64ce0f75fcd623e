"""The table of lines per function, in the form that users of line_profiler know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rich.text import Text

from dlprof.analysis import kernel_lines, kernels
from dlprof.analysis.lines import FunctionLines, Line
from dlprof.report.console import make_console
from dlprof.schema.vocabulary import LineSource
from dlprof.store.run import Run
from dlprof.units import duration, percent, safe

_HEAD = f"{'Line #':>6}  {'Hits':>9}  {'Time (ms)':>12}  {'Per Hit (ms)':>13}  {'% Time':>6}  Line Contents"

_FEW = 5
"""Samples of a line below which its time says hardly more than that it was seen, and so the line says how often."""


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
        place = safe(function.file) + (f":{function.first_line}" if function.first_line else "")
        console.print(Text(f"\n{safe(function.function)}  {place}", style="bold"))
        console.print(Text(_about(function), style="dim"))
        console.print(Text(_HEAD, style="dim"))
        for line in function.lines:
            share = line.time_ns / function.total_ns if function.total_ns else 0.0
            console.print(_line(line, share), no_wrap=True, overflow="ellipsis", crop=True)
    compiled = _of_compiled_functions(run)
    if compiled is not None:
        console.print(Text(f"\n{compiled}", style="dim"))


def _of_compiled_functions(run: Run) -> str | None:
    """The line that made most kernels, where lines of compiled functions are known: here they have no time."""
    if not kernel_lines.are_known(run):
        return None
    sums = kernels.summarise(run, "line")
    row = next((row for row in sums.rows if row.keys["file"] is not None), None)
    if row is None:
        return None
    place, share = f"{safe(row.keys['file'])}:{row.keys['line']}", percent(row.total_ns, sums.whole_ns(row))
    return (
        "Lines of compiled functions have no time here: what they start is waited for at lines of Python, which need "
        f"not be those that call them. In kernel windows {place} made {share} % of the kernels' time; all of them: "
        f"dlprof kernels {run.typed} --by line"
    )


def _about(function: FunctionLines) -> str:
    contains = "a line's time contains what it calls"
    if function.how is LineSource.SCALED:
        about = f"total about {duration(function.total_ns)}"
        return f"{about}; ~ hits were counted in windows and scaled, all times are from samples; {contains}"
    if function.how is LineSource.EXACT:
        return f"total {duration(function.total_ns)}; {contains}"
    where = f"in {safe(function.process)}, all together" if function.process else "on all threads"
    return f"not counted here: from samples, about {duration(function.total_ns)} {where}; {contains}"


def _line(line: Line, share: float) -> Text:
    source = safe((line.source or "").replace("\t", "    "))
    if not line.samples and line.hits is None:
        return Text(f"{line.line:>6}  {'':>9}  {'':>12}  {'':>13}  {'':>6}  {source}", style="dim")
    if line.samples is not None and line.hits is not None:
        return _scaled(line, share, source)
    if line.samples is not None:
        return _sampled(line, share, source)
    if not line.hits:
        return Text(f"{line.line:>6}  {'':>9}  {'':>12}  {'':>13}  {'':>6}  {source}", style="dim")
    per_hit = line.time_ns / 1e6 / line.hits
    text = (
        f"{line.line:>6}  {line.hits:>9}  {line.time_ns / 1e6:>12.3f}  {per_hit:>13.4f}  {100 * share:>6.1f}  {source}"
    )
    return Text(text, style=_style(share))


def _scaled(line: Line, share: float, source: str) -> Text:
    """A line with its time from samples and the standard error of that; estimated hits are too rough to divide by."""
    hits = f"{line.hits}" if line.is_known else f"~{line.hits}"
    few = line.samples is not None and line.samples < _FEW
    time = f"{line.time_ns / 1e6:.0f} +- {(line.error_ns or 0) / 1e6:.0f}"
    if few:
        time = f"{line.time_ns / 1e6:.0f}, {line.samples} seen" if line.samples else "not seen"
    per_hit = f"{line.time_ns / 1e6 / line.hits:.4f}" if line.hits and line.is_known and not few else ""
    text = f"{line.line:>6}  {hits:>9}  {time:>12}  {per_hit:>13}  {100 * share:>6.1f}  {source}"
    return Text(text, style=_style(share))


def _sampled(line: Line, share: float, source: str) -> Text:
    """A line with its time from samples, and the standard error of that."""
    seen = f"{line.samples} seen"
    time = f"{line.time_ns / 1e6:.0f} +- {(line.error_ns or 0) / 1e6:.0f}"
    return Text(f"{line.line:>6}  {seen:>9}  {time:>12}  {'':>13}  {100 * share:>6.1f}  {source}", style=_style(share))


def _style(share: float) -> str:
    return "bold yellow" if share >= 0.1 else ""
