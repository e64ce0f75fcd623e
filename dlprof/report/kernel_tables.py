"""Tables of kernels: as JSON (`dlprof.kernels/1`) and on a terminal."""

from __future__ import annotations

from typing import Any, TextIO

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dlprof.analysis.kernels import GROUPS, Kernels, Row
from dlprof.report.text import make_console
from dlprof.report.units import duration, percent, safe
from dlprof.store.run import Run

SCHEMA = "dlprof.kernels/1"
_KEYS = ("step", "layer", "direction", "op", "category", "name", "kind", "device")


def as_json(kernels: Kernels, by: str, phase: str | None) -> dict[str, Any]:
    """All rows. See docs/json.md."""
    return {
        "schema": SCHEMA,
        "by": by,
        "phase": phase,
        "rows": [_json_row(row, kernels) for row in kernels.rows],
        "all_ns": kernels.all_ns,
        "unattributed_ns": kernels.unattributed_ns,
        "dropped_events": kernels.dropped_events,
        "aggregated": kernels.aggregated,
    }


def _json_row(row: Row, kernels: Kernels) -> dict[str, Any]:
    return {
        **{key: row.keys[key] for key in _KEYS if key in row.keys},
        "count": row.count,
        "total_ns": row.total_ns,
        "self_ns": row.self_ns,
        "union_ns": row.union_ns,
        "mean_ns": round(row.mean_ns),
        "p95_ns": None if row.p95_ns is None else round(row.p95_ns),
        "share": row.self_ns / kernels.all_ns if kernels.all_ns else None,
        "launch_delay_ns": None if row.delay_ns is None else round(row.delay_ns),
        "flops": row.flops,
        "bytes": row.bytes,
    }


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
    if not kernels.rows:
        console.print(Text(f"{run.name} has no kernels: {_why(run)}"))
        return
    rows = list(kernels.rows[: top or None])
    table = make_table(rows, kernels, by)
    console.print(Padding(table, (0, 0, 0, 0)))
    if len(rows) < len(kernels.rows):
        rest = sum(row.self_ns for row in kernels.rows[len(rows) :])
        console.print(Text(f"... {len(kernels.rows) - len(rows)} more rows, {duration(rest)}", style="dim"))
    share = percent(kernels.unattributed_ns, kernels.all_ns)
    text = f"{duration(kernels.all_ns)} in all; {duration(kernels.unattributed_ns)} ({share} %) belong to no layer"
    if kernels.dropped_events:
        text += f"; {kernels.dropped_events} events were dropped by the profiler"
    console.print(Text(text, style="dim"))


def make_table(rows: list[Row], kernels: Kernels, by: str) -> Table:
    """The rows as a table for a terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    keys = [key for key in _KEYS if key in (*GROUPS[by], "kind", "device")]
    delays = any(row.delay_ns is not None for row in rows)
    figures = ["count", "total", "self", "wall", "mean", "p95", "share %", *(["launch delay"] if delays else [])]
    last = keys[-3] if keys[-3:-2] == ["name"] else None
    for key in keys:
        if key != last:
            table.add_column(key, no_wrap=key != "layer", overflow="fold")
    for figure in figures:
        table.add_column(figure, justify="right", no_wrap=True)
    if last:
        table.add_column(last, no_wrap=True, overflow="ellipsis")
    for row in rows:
        cells = [Text(safe(_cell(row, key))) for key in keys if key != last]
        numbers = [
            f"{row.count:,}", duration(row.total_ns), duration(row.self_ns), duration(row.union_ns),
            duration(row.mean_ns), duration(row.p95_ns), percent(row.self_ns, kernels.all_ns),
            *([duration(row.delay_ns)] if delays else []),
        ]  # fmt: skip
        table.add_row(*cells, *numbers, *([Text(safe(_cell(row, last)))] if last else []))
    return table


def _cell(row: Row, key: str) -> str:
    value = row.keys.get(key)
    if value is None:
        return {"layer": "(no layer)", "step": "-", "op": "(no operator)"}.get(key, "-")
    return str(value)


def _why(run: Run) -> str:
    probe = next((row for row in run.rows("probes") if row["name"] == "kernels"), None)
    if probe is None:
        return "its profilers kept none"
    return str(probe["reason"] or "none ran in a window")
