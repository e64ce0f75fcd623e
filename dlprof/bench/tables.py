"""Results of a benchmark as CSV, Markdown and JSON (`dlprof.bench/1`)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypedDict

from dlprof.bench.matrix import Matrix
from dlprof.bench.measures import MEASURES, Row

SCHEMA: Final = "dlprof.bench/1"


class RowReport(TypedDict):
    """All repeats of a work on a backend."""

    work: str
    backend: str
    runs: int
    """Runs that came to their end."""
    failed: list[str]
    """Why the others failed, each reason once."""
    median: Mapping[str, float | None]
    """Of each measure; null: no run has it."""
    interval: Mapping[str, tuple[float, float] | None]
    """95 % interval of each median; null: there are fewer than three runs."""


class BenchReport(TypedDict):
    """The table of a benchmark."""

    schema: Literal["dlprof.bench/1"]
    name: str
    title: str
    seed: int
    repeat: int
    measures: Mapping[str, str]
    """What each measure means, with its unit."""
    rows: list[RowReport]


def as_json(matrix: Matrix, rows: Sequence[Row]) -> BenchReport:
    """All rows. See `dlprof help json`."""
    return {
        "schema": SCHEMA,
        "name": matrix.name,
        "title": matrix.title,
        "seed": matrix.seed,
        "repeat": matrix.repeat,
        "measures": dict(MEASURES),
        "rows": [
            {
                "work": row.work, "backend": row.backend, "runs": row.runs, "failed": list(row.failed),
                "median": {name: row.medians.get(name) for name in MEASURES},
                "interval": {name: row.intervals.get(name) for name in MEASURES},
            }
            for row in rows
        ],
    }  # fmt: skip


def as_csv(rows: Sequence[Row]) -> str:
    """A line per work and backend: median, low and high end of each measure; empty where there is none."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    heads = [f"{name}{part}" for name in MEASURES for part in ("", "_low", "_high")]
    writer.writerow(["work", "backend", "runs", "failed", *heads])
    for row in rows:
        cells: list[object] = []
        for name in MEASURES:
            low, high = row.intervals.get(name, ("", ""))
            cells += [row.medians.get(name, ""), low, high]
        writer.writerow([row.work, row.backend, row.runs, "; ".join(row.failed), *cells])
    return target.getvalue()


def as_markdown(rows: Sequence[Row]) -> str:
    """A table of medians with their intervals; measures that no row has are left out."""
    names = [name for name in MEASURES if any(name in row.medians for row in rows)]
    lines = [
        "| work | backend | runs | " + " | ".join(MEASURES[name] for name in names) + " |",
        "| --- | --- | ---: | " + " | ".join("---:" for _ in names) + " |",
    ]
    for row in rows:
        cells = [_cell(row, name) for name in names]
        runs = f"{row.runs}" + (f" ({len(row.failed)} reasons to fail)" if len(row.failed) > 1 else "")
        lines.append(f"| {row.work} | {row.backend} | {runs} | " + " | ".join(cells) + " |")
    failed = [f"- {row.work} on {row.backend}: {reason}" for row in rows for reason in row.failed]
    if failed:
        lines += ["", "Failed:", "", *failed]
    return "\n".join(lines) + "\n"


def _cell(row: Row, name: str) -> str:
    if name not in row.medians:
        return "-"
    text = number(row.medians[name])
    if name in row.intervals:
        low, high = row.intervals[name]
        text += f" [{number(low)}, {number(high)}]"
    return text


def number(value: float) -> str:
    """Three significant digits."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
