"""Latencies of predictions: percentiles over the calls of each place."""

from __future__ import annotations

from dlprof.analysis.latency import CallLatency
from dlprof.report.console import Page
from dlprof.report.model import Report
from dlprof.units import duration, safe

_LOOP = 10
"""From so many calls on they are a loop of requests, and told in the answer."""
_ROWS = 8


def calls(page: Page, report: Report) -> None:
    """A table of the calls; nothing where there was none or one."""
    several = [one for one in report.calls if one.count > 1]
    if not several:
        return
    page.title("Latency of predictions", "per call, all threads; percentiles without the first call of each line")
    names = ("call", "at", "count", "threads", "first", "p50", "p95", "p99", "slowest")
    table = page.table(*[(name, "left" if name in ("call", "at") else "right") for name in names])
    for one in several[:_ROWS]:
        figures = (one.first_ns, one.p50_ns, one.p95_ns, one.p99_ns, one.max_ns)
        table.add_row(
            safe(one.name), _place(one), f"{one.count:,}", str(one.threads), *(duration(figure) for figure in figures)
        )
    page.show(table)
    left = max(0, len(several) - _ROWS) + report.calls_left_out
    if left:
        page.say(f"and {left:,} more lines; --json has those that took most", "dim", 2)
    if any(one.p99_ns is None for one in several[:_ROWS]):
        page.say("-: from fewer than 20 calls there is no p95, from fewer than 100 no p99", "dim", 2)


def in_short(report: Report) -> str:
    """The place with most calls, if they are many."""
    one = max(report.calls, key=lambda call: call.count, default=None)
    if one is None or one.count < _LOOP:
        return ""
    figures = (("median", one.p50_ns), ("p95", one.p95_ns), ("p99", one.p99_ns))
    told = ", ".join(f"{name} {duration(ns)}" for name, ns in figures if ns is not None)
    threads = f" on {one.threads} threads" if one.threads > 1 else ""
    return f"{one.count:,} calls of {safe(one.name)}{threads}: {told or 'each is not known'}"


def _place(one: CallLatency) -> str:
    return f"{safe(one.file)}:{one.line}" if one.file else "-"
