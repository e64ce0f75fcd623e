"""A run as one JSON object (`dlprof.export/1`): its manifest, its report and its tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, Literal, TypedDict

from msgspec import Struct, to_builtins

from dlprof.analysis.findings.diagnose import brief
from dlprof.export import tables
from dlprof.report import strict_json
from dlprof.report.json_text import plain
from dlprof.report.model import Report
from dlprof.report.summary import summarise
from dlprof.schema.manifest import Manifest
from dlprof.schema.manifest_json import as_builtins
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run

SCHEMA = "dlprof.export/1"
KERNEL_EVENTS_AT_MOST = 200_000
"""Rows of `kernel_events` beyond which that table is left out: 40 MB of JSON."""


class LeftOut(Struct, frozen=True):
    """A table that is not in the object, how many rows it has, and why."""

    table: str
    rows: int | None
    """None: not known, it is lost."""
    because: str


class ExportedRun(TypedDict):
    """A run as one object. Numbers that JSON does not know are the texts NaN, Infinity and -Infinity."""

    schema: Literal["dlprof.export/1"]
    manifest: Manifest
    report: Report
    left_out: Sequence[LeftOut]
    tables: Mapping[str, Sequence[Mapping[str, Any]]]
    """Rows of each table, as objects with a field for each column."""


def write(run: Run, out: BinaryIO) -> str:
    """Write the object. What is left out stands in `left_out`, with the reason.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.
    """
    left_out = _left_out(run)
    head = {
        "schema": SCHEMA,
        "manifest": as_builtins(run.manifest),
        "report": plain(summarise(run, diagnosis=brief(run, within_s=math.inf))),
        "left_out": to_builtins(left_out),
    }
    out.write(strict_json.dumps(head)[:-1].encode() + b',\n"tables":{')
    names = [name for name in TABLES if name not in {table.table for table in left_out}]
    for place, name in enumerate(names):
        out.write(f"{',' if place else ''}\n{json.dumps(name)}:[".encode())
        _write_rows(run, name, out)
        out.write(b"]")
    out.write(b"\n}}\n")
    said = "".join(f", without {table.table} ({_rows(table.rows)})" for table in left_out)
    return f"{len(names)} tables{said}"


def _rows(count: int | None) -> str:
    return "lost" if count is None else f"{count:,} rows"


def _left_out(run: Run) -> list[LeftOut]:
    lost = [LeftOut(name, None, why) for name, why in run.lost.items()]
    rows = run.count("kernel_events")
    if rows <= KERNEL_EVENTS_AT_MOST:
        return lost
    because = f"more than {KERNEL_EVENTS_AT_MOST} rows; dlprof export --to parquet has them"
    return [*lost, LeftOut("kernel_events", rows, because)]


def _write_rows(run: Run, name: str, out: BinaryIO) -> None:
    before = "\n"
    for piece in tables.pieces(run, name):
        for row in piece.to_pylist():
            out.write(f"{before}{strict_json.dumps(row)}".encode())
            before = ",\n"
