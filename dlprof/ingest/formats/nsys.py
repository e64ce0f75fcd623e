"""Reads SQLite exports of Nsight Systems: kernels, CUDA graphs, copies, API and library calls, NVTX ranges.

The schema changes with most versions: what tables and columns there are is asked, and a table of events that is not
read is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Kernel, NvtxRange, process_number
from dlprof.ingest.parse.sqlite_files import Database, holds_table

_NVTX_RANGES = (59, 60)
"""Event types of ranges: pushed and popped, started and ended. The others are marks and names."""
_NVTX_MARKS = (34,)
_ON_DEVICE = ("start", "end", "deviceId", "streamId", "correlationId", "globalPid")
_KERNEL_COLUMNS = (*_ON_DEVICE, "demangledName", "shortName", "mangledName")
_GRAPH_COLUMNS = (*_ON_DEVICE, "graphId")
_CALLS = ("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER")
_LIBRARIES = re.compile(r"^(CUDNN|CUBLAS|CUSPARSE|CUSOLVER|MPI|UCP|UCT|OPENACC|NCCL)\w*_EVENTS$")
"""Tables of calls into libraries, which have the columns of the calls of CUDA's API but no correlation."""


def claims(sample: Sample) -> bool:
    """Whether the file is an SQLite export of Nsight Systems."""
    return holds_table(sample.path, sample.head, ("StringIds", "TARGET_INFO_SESSION_START_TIME"))


def read(path: Path) -> FileContent:
    """An SQLite export of Nsight Systems; versions of 2020 to 2025 (schemas 2 and 3) were tried.

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
        _add_device(database, events)
        _add_host(database, events)
        for ranges in _ranges(database, trace, events):
            events.add_ranges(ranges)
        _add_facts(database, trace)
        events.close(database)
        known = database.all("PROCESSES", ("globalPid", "name"))
    names = {number: str(name) for packed, name in known if name and (number := process_number(packed)) is not None}
    return FileContent.of_processes(events.traces(names))


def _add_device(database: Database, events: CudaEvents) -> None:
    for rows in database.rows("CUPTI_ACTIVITY_KIND_KERNEL", _KERNEL_COLUMNS):
        events.add_kernels([Kernel._make((*row[:5], _first(row[6:]), row[5])) for row in rows])
    # A graph that was traced as a whole stands for its kernels.
    for rows in database.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", _GRAPH_COLUMNS):
        events.add_kernels([Kernel._make((*row[:5], f"CUDA graph {row[6]}", row[5])) for row in rows])
    events.add_copies(database)


def _first(names: Sequence[Any]) -> Any:
    return next((name for name in names if name is not None), None)


def _add_host(database: Database, events: CudaEvents) -> None:
    libraries = sorted(name for name in database.tables if _LIBRARIES.match(name))
    for table in (*_CALLS, *libraries):
        for rows in database.rows(table, ("start", "end", "globalTid", "correlationId", "nameId")):
            calls = [Call(start, end, tid, link, events.text(name)) for start, end, tid, link, name in rows]
            events.add_calls(calls) if table in _CALLS else events.add_operators(calls)


def _ranges(database: Database, trace: Trace, events: CudaEvents) -> Iterator[list[NvtxRange]]:
    marks = unended = 0
    for rows in database.rows("NVTX_EVENTS", ("start", "end", "eventType", "text", "textId", "globalTid")):
        ranges = [row for row in rows if row[2] in _NVTX_RANGES]
        marks += sum(row[2] in _NVTX_MARKS for row in rows)
        unended += sum(row[1] is None for row in ranges)
        yield [
            NvtxRange(start, end, tid, str(text or events.text(text_id)))
            for start, end, _, text, text_id, tid in ranges
            if end is not None
        ]
    trace.skip("NVTX marks", marks, "they have no duration")
    trace.skip("NVTX ranges", unended, "they did not end while the profiler ran")


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
