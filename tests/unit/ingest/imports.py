"""Runs that are made of the files in `tests/data/traces`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import kernels
from dlprof.pipeline import importing
from dlprof.store import query
from dlprof.store.run import Run

DATA = Path(__file__).parents[2] / "data" / "traces"


def imported(tmp_path: Path, *paths: Path, **more: Any) -> Run:
    """A run made of files."""
    return importing.import_files(paths, tmp_path / "run", reader=None, report=lambda _line: None, **more)


def of_kind(run: Run, kind: str) -> tuple[int, float]:
    """Executions of a kind, and their time in us."""
    rows = [row for row in kernels.summarise(run, "device").rows if row.keys["kind"] == kind]
    return sum(row.count for row in rows), sum(row.total_ns for row in rows) / 1000


def rows(run: Run, sql: str) -> list[tuple[Any, ...]]:
    """What SQL gives."""
    return query.ask(run, sql).rows
