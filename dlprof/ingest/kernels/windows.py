"""Rows of `kernel_windows`: stretches of time in which kernels were traced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Loop


@dataclass(frozen=True)
class KernelWindow:
    """A window of a run, or a whole trace.

    Attributes:
        process: The process that was traced.
        window: Its number.
        engine: What made the events.
        source: Name of its file.
        start_ns: Start on the run's timeline (ns).
        dur_ns: Until all that was started in it had finished (ns).
        dropped: Events that are missing.
        loop: The loop that it is of; None: it is of no loop.
        first_step: Running number of its first step; None: not known.
        steps: Number of steps in it; None: not known.
        start_cost_ns: Cost of switching the tracer on, outside the window (ns); None: there is none.
        stop_cost_ns: Cost of switching it off and writing (ns); None: there is none.
    """

    process: ProcessId
    window: int
    engine: str
    source: str
    start_ns: int
    dur_ns: int
    dropped: int = 0
    loop: Loop | None = None
    first_step: int | None = None
    steps: int | None = None
    start_cost_ns: int | None = None
    stop_cost_ns: int | None = None


_COLUMNS = tuple(column.name for column in fields(KernelWindow) if column.name != "process")


def windows_table(windows: Iterable[KernelWindow]) -> pa.Table:
    """The table `kernel_windows`."""
    rows = [{**w.process.columns, **{name: getattr(w, name) for name in _COLUMNS}} for w in windows]
    return pa.Table.from_pylist(rows, schema=TABLES["kernel_windows"])
