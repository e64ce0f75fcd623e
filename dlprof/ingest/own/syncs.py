"""Where the program asked for values of the device, as the in-process probe told it: rows of the table `syncs`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.schema.tables import TABLES


class Sync(NamedTuple):
    """A place (`dlprof_probes.wire.SYNC`); times are the process's clock (ns)."""

    what: str
    file: str
    line: int
    calls: int
    dur_ns: int
    first_ns: int
    last_ns: int


def table(places: Iterable[Sync], process: ProcessId, names: FileNames) -> pa.Table:
    """The table `syncs`."""
    rows = [
        {
            "host": process.host,
            "rank": process.rank,
            "pid": process.pid,
            "what": one.what,
            "file": names.short(one.file),
            "line": one.line,
            "calls": one.calls,
            "dur_ns": one.dur_ns,
            "start_ns": one.first_ns - process.origin_ns,
            "end_ns": one.last_ns - process.origin_ns,
        }
        for one in places
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["syncs"])
