"""Passes over loaders, as the in-process probe told them: rows of the table `loaders`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.schema.tables import TABLES

_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
_Time = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class Pass(msgspec.Struct, frozen=True):
    """A record of one pass (`dlprof_probes.wire.Record.LOADER`); times are the process's clock (ns)."""

    loader: _Count
    thread: int
    kind: str
    begin_ns: _Time
    opened_ns: _Time
    end_ns: _Time
    waited_ns: _Time
    items: _Time
    first_wait_ns: _Time | None = None
    last_wait_ns: _Time | None = None
    dataset: str | None = None
    file: str = ""
    line: _Count = 0
    workers: _Count | None = None
    uses_processes: bool | None = None
    persistent: bool | None = None
    queue: _Count | None = None
    queue_per_worker: bool | None = None
    batch_size: _Count | None = None
    collate: str | None = None


def parse(payload: bytes) -> Pass:
    """A pass out of its record.

    Raises:
        ValueError: It makes no sense.
    """
    found = msgspec.json.decode(payload, type=Pass)
    if not found.begin_ns <= found.opened_ns <= found.end_ns:
        raise ValueError("the times of a pass over a loader make no sense")
    return found


def table(passes: Sequence[Pass], process: ProcessId, names: FileNames) -> pa.Table:
    """The table `loaders`."""
    return pa.Table.from_pylist([_row(one, process, names) for one in passes], schema=TABLES["loaders"])


def _row(one: Pass, process: ProcessId, names: FileNames) -> dict[str, Any]:
    told = msgspec.structs.asdict(one)
    return {
        **{name: told[name] for name in TABLES["loaders"].names if name in told},
        "host": process.host,
        "rank": process.rank,
        "pid": process.pid,
        "item_count": one.items,
        "thread_id": one.thread & ((1 << 63) - 1),
        "file": names.short(one.file) if one.file else None,
        "line": one.line or None,
        "start_ns": one.begin_ns - process.origin_ns,
        "open_ns": one.opened_ns - one.begin_ns,
        "dur_ns": one.end_ns - one.begin_ns,
    }
