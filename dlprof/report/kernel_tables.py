"""Tables of kernels on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from rich.table import Table
from rich.text import Text

from dlprof.analysis import kernel_lines
from dlprof.analysis.kernels import GROUPS, INCLUSIVE, OF_DEVICES, Kernels, Row
from dlprof.report.console import keep_widths, make_console
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run
from dlprof.units import ALL, duration, percent, safe

_WIDE = 130
"""Columns from which on all figures are shown; also where there is no terminal to be narrow."""
_ON = "on"
"""The column that says on which device a row ran, and whether it is a copy."""
_PLACE, _SOURCE = "made by", "source"
"""Of rows by line: where it is, and its text."""
_LAST = {"kernel": "name", "layer": "op", "op": "op", "line": _SOURCE, "device": "kind"}
"""The key that stands last, because it may be long; where it is not given, the grouping's own."""
_KEYS = {
    "kernel": ("layer", "direction", "category", _ON),
    "layer": ("layer", "direction", _ON),
    "op": ("category", _ON),
    "line": (_PLACE, _ON),
    "device": ("device",),
}
"""The other keys."""
_MISSING = {"layer": "(no layer told)", _PLACE: "(no line)", _SOURCE: "", "step": "(no step)", "op": "(no operator)"}


@dataclass(frozen=True)
class Figure:
    """A column of figures."""

    name: str
    text: Callable[[Row, Kernels], str]


_COUNT = Figure("count", lambda row, _: f"{row.count:,}")
_TOTAL = Figure("total", lambda row, _: duration(row.total_ns))
_SELF = Figure("self", lambda row, _: duration(row.self_ns))
_WALL = Figure("wall", lambda row, _: duration(row.union_ns))
_MEAN = Figure("mean", lambda row, _: duration(row.mean_ns))
_P95 = Figure("p95", lambda row, _: duration(row.p95_ns))
_SHARE = Figure("%", lambda row, kernels: percent(row.self_ns, kernels.whole_ns(row)))
_SHARE_OF_STEP = Figure("% of step", lambda row, kernels: percent(row.union_ns, kernels.window_ns))
_DELAY = Figure("launch delay", lambda row, _: duration(row.delay_ns))


def print_table(run: Run, kernels: Kernels, by: str, *, top: int, file: TextIO, plain: bool = False) -> None:
    """Print the rows with most time.

    Args:
        run: The run.
        kernels: Its sums.
        by: What they are summed by.
        top: How many rows at most; 0 for all.
        file: The stream that it is printed to.
        plain: No colour, only ASCII.
    """
    console = make_console(file, plain=plain)
    if not file.isatty():
        console.width = max(console.width, _WIDE)
    if not kernels.rows:
        console.print(Text(_none(run, kernels.phase)))
        return
    rows = kernels.rows[: top or None]
    if by == "line":
        rows = _placed(run, rows)
    wide = console.width >= _WIDE
    table = _table(rows, kernels, by, wide=wide)
    if not console.whole:
        keep_widths(table, console.width, last_at_least=20)
    console.print(table)
    rest = kernels.rows[len(rows) :]
    if rest:
        console.print(Text(f"... {len(rest)} more rows, {_times(rest)}; --top 0 for all", "dim"))
    console.print(Text(_foot(kernels, by), style="dim"))
    if by == "layer" and (why := _of_no_layer(kernels)):
        console.print(Text(why, style="dim"))
    beyond = _beyond_a_step(kernels)
    if wide and beyond:
        console.print(Text(beyond, style="dim"))


def _placed(run: Run, rows: Sequence[Row]) -> list[Row]:
    """Rows by line, with its place and its text."""
    texts = kernel_lines.texts(run, rows)
    return [
        replace(row, keys={**row.keys, _PLACE: _place(row), _SOURCE: text})
        for row, text in zip(rows, texts, strict=True)
    ]


def _place(row: Row) -> str | None:
    return f"{row.keys['file']}:{row.keys['line']}" if row.keys["file"] is not None else None


def _times(rows: Sequence[Row]) -> str:
    """Time of some rows, that of devices and of the host each for itself."""
    host, devices = (sum(row.self_ns for row in rows if row.on_host == on_host) for on_host in (True, False))
    if host and devices:
        return f"{duration(devices)} on devices, {duration(host)} on the host"
    return duration(host + devices)


def _foot(kernels: Kernels, by: str) -> str:
    where = " on devices" if kernels.all_of == OF_DEVICES else ""
    text = f"{duration(kernels.all_ns)} in all{where}; {_of_none(kernels, by)}"
    if where and kernels.host_ns:
        text += f"; operators on the host took {duration(kernels.host_ns)}, of which their % are"
    if kernels.aggregated:
        text += "; sums of a profiler that keeps no times"
    if kernels.dropped_events:
        text += f"; {kernels.dropped_events} events were dropped by the profiler"
    return text


def _of_no_layer(kernels: Kernels) -> str:
    """What stands in rows that are told of no layer; empty: there are none, or all is plain."""
    loose = [row for row in kernels.rows if row.layer is None]
    if loose and len(loose) == len(kernels.rows):
        return "no layer is told: the work is in functions that are none, or the tracer names none; rows are operators"
    if any(row.category is None for row in loose):
        return (
            "(no layer told): work outside of layers, as losses, updates and functions of a script; one by one: --by op"
        )
    return ""


def _beyond_a_step(kernels: Kernels) -> str:
    """Why shares of a step are more than all of it; empty: they are not."""
    walls = [row.union_ns or 0 for row in kernels.rows]
    whole_ns = ALL * kernels.window_ns
    if not kernels.window_ns or sum(walls) <= whole_ns:
        return ""
    if max(walls) > whole_ns:
        return "more than 100 % of step: part of that row ran outside of the traced steps"
    added = 100 * sum(walls) / kernels.window_ns
    return f"% of step add up to {added:.0f}: rows ran beside each other, or one inside another"


def _of_none(kernels: Kernels, by: str) -> str:
    """What belongs to nothing of a kind."""
    if by != "line":
        none_ns = kernels.unattributed_ns
        return f"{duration(none_ns)} ({percent(none_ns, kernels.all_ns)} %) belong to no layer"
    if all(row.keys["file"] is None for row in kernels.rows):
        return "nothing tells the lines: of the engines JAX alone keeps them in its traces"
    loose = sum(row.self_ns for row in kernels.rows if row.keys["file"] is None)
    return f"{duration(loose)} ({percent(loose, sum(row.self_ns for row in kernels.rows))} %) belong to no line"


def _table(rows: Sequence[Row], kernels: Kernels, by: str, *, wide: bool) -> Table:
    """The rows as a table: what they belong to, figures, and the longest text last."""
    last, keys = _columns(by)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for key in keys:
        table.add_column(key, no_wrap=True)
    figures = _figures(rows, by, wide=wide)
    for figure in figures:
        table.add_column(figure.name, justify="right", no_wrap=True)
    table.add_column(last, no_wrap=True, overflow="ellipsis")
    for row in rows:
        cells = [Text(safe(_cell(row, key))) for key in keys]
        table.add_row(*cells, *(figure.text(row, kernels) for figure in figures), Text(safe(_cell(row, last))))
    return table


def _columns(by: str) -> tuple[str, Sequence[str]]:
    """The key that stands last, and the others."""
    if by in _LAST:
        return _LAST[by], _KEYS[by]
    first, *others = GROUPS[by]
    return first, [*others, _ON]


def _figures(rows: Sequence[Row], by: str, *, wide: bool) -> list[Figure]:
    """The columns of figures: more where there is room, and where there is something to show."""
    figures = [_COUNT, _TOTAL, *([_SELF] if by in INCLUSIVE else []), _WALL, _MEAN]
    figures += [_P95, _SHARE, _SHARE_OF_STEP] if wide else [_SHARE]
    return [*figures, _DELAY] if any(row.delay_ns is not None for row in rows) else figures


def _cell(row: Row, key: str) -> str:
    if key == _ON:
        device, kind = row.keys["device"], row.keys["kind"]
        return f"{device} copy" if kind == EventKind.TRANSFER.word else str(device)
    value = row.keys.get(key)
    if value is None and key == "op" and "category" in row.keys:
        return f"({row.keys['category']})"
    return _MISSING.get(key, "-") if value is None else str(value)


def _none(run: Run, phase: str | None) -> str:
    if phase is not None and (run.row_count("kernel_events") or run.row_count("kernel_totals")):
        return f"No kernel that {run.name} has began in {phase}."
    return f"{run.name} has no kernels: {_why_none(run)}"


def _why_none(run: Run) -> str:
    probe = next((row for row in run.rows("probes") if row["name"] == "kernels"), None)
    if probe is None:
        return "its profilers kept none"
    return str(probe["reason"] or "none ran in a window")
