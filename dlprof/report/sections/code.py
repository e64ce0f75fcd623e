"""Where in the code the time went: lines as they were counted, stacks as they were sampled."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from dlprof.analysis.lines import HotLine
from dlprof.report import worth_a_row
from dlprof.report.console import Page
from dlprof.report.model import PhaseStack, Report
from dlprof.report.sections.machine import not_measured
from dlprof.units import duration, percent, safe

_STACK_AT_LEAST_NS = 100_000_000
"""Stacks that stood for less are a sample or two by chance."""
_FRAMES = 4
"""Frames of a stack that are shown, from the innermost."""


def lines(page: Page, report: Report) -> None:
    """The user's lines that took longest."""
    page.title(
        "Hottest lines", "with what they call; calls of other profiled functions taken off" if report.lines else ""
    )
    if not report.lines:
        not_measured(page, report, "lines")
        return
    table = page.table(("time", "right"), ("%", "right"), ("hits", "right"), ("line", "left"), ("source", "left"))
    least = worth_a_row.LEAST_SHARE * (report.wall_ns or 0) if page.brief else 0
    shown = [line for line in report.lines if line.own_ns >= least] or report.lines
    for line in shown:
        time = duration(line.own_ns), percent(line.own_ns, report.wall_ns)
        place = f"{safe(line.file)}:{line.line}"
        place += f" ({safe(line.process)})" if line.process else ""
        table.add_row(*time, _hits(line), place, safe((line.source or "").strip()))
    page.show(table)
    if rest := len(report.lines) - len(shown):
        page.say(f"{worth_a_row.others(rest)}, each below 1 %: dlprof lines {page.typed or report.run}", "dim", 2)


def _hits(line: HotLine) -> str:
    return f"{line.hits}" if line.samples is None else f"sampled, {line.samples} x"


def stacks(page: Page, report: Report) -> None:
    """The stacks in which the main thread was seen for longest, by phase."""
    page.title("Hottest stacks by phase", "sampled; main thread; innermost first" if report.stacks else "")
    if not report.stacks:
        not_measured(page, report, "stacks")
        return
    long = [stack for stack in report.stacks if stack.dur_ns >= _STACK_AT_LEAST_NS]
    if not long:
        page.say(f"none was seen for {duration(_STACK_AT_LEAST_NS)}: dlprof sql {page.typed or report.run}", "dim", 2)
    phase = None
    for stack in long:
        if stack.phase != phase:
            phase = stack.phase
            page.say(phase, "cyan", 2)
        page.console.print(Padding(Text(_stack(page, stack), no_wrap=True, overflow="ellipsis"), (0, 0, 0, 2)))


def _stack(page: Page, stack: PhaseStack) -> str:
    called_by = " < " if page.ascii else " ← "
    frames = [f"{frame.function} ({frame.file.rpartition('/')[2]}:{frame.line})" for frame in stack.frames[:_FRAMES]]
    return f"{100 * stack.share:5.1f} %  {duration(stack.dur_ns):>8}  {safe(called_by.join(frames))}"
