"""Tables of kernels: as JSON (`dlprof.kernels/1`) and on a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from rich.table import Table
from rich.text import Text

from dlprof.analysis.kernels import GROUPS, INCLUSIVE, Kernels, Row
from dlprof.report.console import make_console
from dlprof.store.run import Run
from dlprof.units import duration, percent, safe

_WIDE = 130
"""Columns from which on all figures are shown; also where there is no terminal to be narrow."""


def print_table(run: Run, kernels: Kernels, by: str, *, top: int, file: TextIO, plain: bool = False) -> None:
    """Print the rows with most time.

    Args:
        run: The run.
        kernels: Its sums.
        by: What they are summed by.
        top: How many rows at most; 0 for all.
        file: Where to.
        plain: No colour, only ASCII.
    """
    console = make_console(file, plain=plain)
    if not file.isatty():
        console.width = max(console.width, _WIDE)
    if not kernels.rows:
        console.print(Text(f"{run.name} has no kernels: {_why(run)}"))
        return
    rows = list(kernels.rows[: top or None])
    table = _table(rows, kernels, by, wide=console.width >= _WIDE)
    taken = 0
    for column in table.columns[:-1]:
        column.min_width = max(Text(str(cell)).cell_len for cell in [column.header, *column.cells])
        taken += column.min_width + 2
    table.columns[-1].max_width = max(20, console.width - taken - 1)
    console.print(table)
    if len(rows) < len(kernels.rows):
        rest = sum(row.self_ns for row in kernels.rows[len(rows) :])
        console.print(Text(f"... {len(kernels.rows) - len(rows)} more rows, {duration(rest)}; --top 0 for all", "dim"))
    console.print(Text(_foot(kernels), style="dim"))


def _foot(kernels: Kernels) -> str:
    share = percent(kernels.unattributed_ns, kernels.all_ns)
    text = f"{duration(kernels.all_ns)} in all; {duration(kernels.unattributed_ns)} ({share} %) belong to no layer"
    if kernels.aggregated:
        text += "; sums of a profiler that keeps no times"
    if kernels.dropped_events:
        text += f"; {kernels.dropped_events} events were dropped by the profiler"
    return text


def _table(rows: list[Row], kernels: Kernels, by: str, *, wide: bool) -> Table:
    """The rows as a table: what they belong to, figures, and the longest text last."""
    last, keys = _columns(by)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for key in keys:
        table.add_column(key, no_wrap=True)
    figures = _figures(rows, by, wide)
    for name, _ in figures:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(last, no_wrap=True, overflow="ellipsis")
    for row in rows:
        cells = [Text(safe(_cell(row, key))) for key in keys]
        table.add_row(*cells, *(make(row, kernels) for _, make in figures), Text(safe(_cell(row, last))))
    return table


def _columns(by: str) -> tuple[str, list[str]]:
    """The key that stands last, because it may be long, and the others."""
    if by == "kernel":
        return "name", ["layer", "direction", "category", "on"]
    if by == "layer":
        return "op", ["layer", "direction", "on"]
    if by == "op":
        return "op", ["category", "on"]
    if by == "device":
        return "kind", ["device"]
    own = list(GROUPS[by])
    return own[0], [*own[1:], "on"]


Figure = tuple[str, Callable[[Row, Kernels], str]]


def _figures(rows: list[Row], by: str, wide: bool) -> list[Figure]:
    found: list[Figure] = [
        ("count", lambda row, _: f"{row.count:,}"),
        ("total", lambda row, _: duration(row.total_ns)),
        ("wall", lambda row, _: duration(row.union_ns)),
        ("mean", lambda row, _: duration(row.mean_ns)),
        ("%", lambda row, kernels: percent(row.self_ns, kernels.all_ns)),
    ]
    if by in INCLUSIVE:
        found.insert(2, ("self", lambda row, _: duration(row.self_ns)))
    if wide:
        found.insert(-1, ("p95", lambda row, _: duration(row.p95_ns)))
        found.append(("% of step", lambda row, kernels: percent(row.union_ns, kernels.window_ns)))
    if any(row.delay_ns is not None for row in rows):
        found.append(("launch delay", lambda row, _: duration(row.delay_ns)))
    return found


def _cell(row: Row, key: str) -> str:
    if key == "on":
        device, kind = row.keys["device"], row.keys["kind"]
        return device if kind != "transfer" else f"{device} copy"
    value = row.keys.get(key)
    if value is None and key == "op" and "category" in row.keys:
        return f"({row.keys['category']})"
    if value is None:
        return {"layer": "(no layer)", "step": "(no step)", "op": "(no operator)"}.get(key, "-")
    return str(value)


def _why(run: Run) -> str:
    probe = next((row for row in run.rows("probes") if row["name"] == "kernels"), None)
    if probe is None:
        return "its profilers kept none"
    return str(probe["reason"] or "none ran in a window")
