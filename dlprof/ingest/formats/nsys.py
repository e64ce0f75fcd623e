"""Reads SQLite exports of Nsight Systems: kernels, copies, API calls and NVTX ranges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Database, Kernel, NvtxRange, holds_table

_NVTX_RANGES = (59, 60)
"""Event types of ranges: pushed and popped, started and ended. The others are marks and names."""


def claims(sample: Sample) -> bool:
    """Whether the file is an SQLite export of Nsight Systems."""
    return holds_table(sample.path, sample.head, ("StringIds", "TARGET_INFO_SESSION_START_TIME"))


def read(path: Path) -> FileContent:
    """An SQLite export of Nsight Systems; schema versions 2 and 3 were tried.

    Raises:
        ArtifactError: The file is damaged.
    """
    with Database(path) as database:
        trace = Trace(path, "nsys", "cuda", attribution="range")
        start = database.all("TARGET_INFO_SESSION_START_TIME", ("utcEpochNs",))
        zero = start[0][0] if start else None
        trace.zero_ns = zero if isinstance(zero, int) and 0 <= zero < 2**62 else None
        events = CudaEvents(trace, dict(database.all("StringIds", ("id", "value"))))
        events.name_threads(database.all("ThreadNames", ("globalTid", "nameId")))
        for kernels in _kernels(database):
            events.add_kernels(kernels)
        events.add_copies(database)
        for rows in database.rows(
            "CUPTI_ACTIVITY_KIND_RUNTIME", ("start", "end", "globalTid", "correlationId", "nameId")
        ):
            events.add_calls([Call(start, end, tid, link, events.text(name)) for start, end, tid, link, name in rows])
        for ranges in _ranges(database, events):
            events.add_ranges(ranges)
        _add_facts(database, trace)
        events.close()
    return FileContent.of(trace)


def _kernels(database: Database) -> Iterator[list[Kernel]]:
    columns = ("start", "end", "deviceId", "streamId", "correlationId", "demangledName")
    for rows in database.rows("CUPTI_ACTIVITY_KIND_KERNEL", columns):
        yield [Kernel(*row) for row in rows]


def _ranges(database: Database, events: CudaEvents) -> Iterator[list[NvtxRange]]:
    for rows in database.rows("NVTX_EVENTS", ("start", "end", "eventType", "text", "textId", "globalTid")):
        yield [
            NvtxRange(start, end, tid, str(text or events.text(text_id)))
            for start, end, kind, text, text_id, tid in rows
            if kind in _NVTX_RANGES and end is not None
        ]


def _add_facts(database: Database, trace: Trace) -> None:
    exported = dict(database.all("META_DATA_EXPORT", ("name", "value")))
    exported.update(database.all("EXPORT_META_DATA", ("name", "value")))
    gpus = database.all("TARGET_INFO_GPU", ("id", "name"))
    trace.facts = {
        "devices": [{"device": number, "name": name} for number, name in gpus if isinstance(number, int)],
        "host": exported.get("EXPORT_HOST"),
        "product_version": exported.get("EXPORT_PRODUCT_VERSION"),
        "schema_version": exported.get("EXPORT_SCHEMA_VERSION"),
    }


READER = Reader("nsys", "Nsight Systems, exported to SQLite", claims, read)
