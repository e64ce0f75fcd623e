"""What the script started: workers and other processes, with what they used and where they were seen."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis.processes import ProcessSummary, kind
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.report.sections.machine import not_measured
from dlprof.schema.vocabulary import ProcessRole
from dlprof.units import duration, percent, safe, size

_LESS_THAN_A_TICK = "< 10 ms"
"""The kernel counts in ticks of its clock."""
_HOW = "CPU time as last seen; lines as sampled on the main thread of each; of followed ones, the run that has them"
_ROWS = 8
"""Processes that are shown one by one; of more, those that used most."""


def processes(page: Page, report: Report) -> None:
    """The processes below the script; nothing where there are none."""
    below = [one for one in report.processes if one.role is not ProcessRole.MAIN]
    if below:
        _show(page, report, below)


def all_processes(page: Page, report: Report) -> None:
    """The same, also where there are none: somebody has asked."""
    if any(one.role is not ProcessRole.MAIN for one in report.processes):
        processes(page, report)
        return
    page.title("Processes below the script")
    if report.processes:
        page.say("none were seen", indent=2)
    else:
        not_measured(page, report, "cores")


def _show(page: Page, report: Report, below: Sequence[ProcessSummary]) -> None:
    page.title("Processes below the script", _HOW)
    names = ("pid", "process", "role", "CPU", "of its life", "memory", "read", "written", "seen most at")
    table = page.table(*[(name, "left" if name in ("process", "role", "seen most at") else "right") for name in names])
    for one in below[:_ROWS]:
        table.add_row(*_row(one))
    page.show(table)
    left = len(below) - _ROWS + report.processes_left_out
    if left > 0:
        page.say(f"... {left} more: {_kinds(below[_ROWS:], report.processes_left_out)}", "dim", 2)


def _row(one: ProcessSummary) -> list[str]:
    at = "; ".join(f"{safe(line.file)}:{line.line} {100 * line.share:.0f} %" for line in one.top[:2])
    life = f"{duration(one.lifetime_ns)} {percent(one.cpu_ns, one.lifetime_ns)}%".strip()
    return [
        str(one.pid),
        safe(one.name or "?"),
        one.role.value,
        _LESS_THAN_A_TICK if one.cpu_ns == 0 else duration(one.cpu_ns),
        life,
        size(one.peak_rss_bytes),
        size(one.read_bytes),
        size(one.write_bytes),
        at or safe(one.run or "-"),
    ]


def _kinds(rest: Sequence[ProcessSummary], left_out: int) -> str:
    counts: dict[str, int] = {}
    for one in rest:
        name = safe(kind(one.name, one.role))
        counts[name] = counts.get(name, 0) + 1
    most = sorted(counts.items(), key=lambda item: -item[1])[:4]
    told = [f"{number} x {name}" for name, number in most]
    return ", ".join([*told, *([f"{left_out} that used least"] if left_out else [])])
