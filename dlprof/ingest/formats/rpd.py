"""Reads databases of rocmProfileData (`.rpd`): kernels, copies, HIP calls and markers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Kernel, NamedCopy, NvtxRange
from dlprof.ingest.parse.sqlite_files import Database, holds_table

_COPIES = ("Copy", "Fill")
"""Types of operations that move bytes begin so; all others are kernels, those of graphs too (`Task`)."""
_MARKERS = ("UserMarker",)


def claims(sample: Sample) -> bool:
    """Whether the file is a database of rocmProfileData."""
    return holds_table(sample.path, sample.head, ("rocpd_api_ops",))


def read(path: Path) -> FileContent:
    """A database of rocmProfileData; schemas 2 and 3.

    Raises:
        ArtifactError: The file is damaged.
    """
    with Database(path) as database:
        trace = Trace(path, "rpd", "rocm", attribution="range", facts={"clock": "machine"})
        events = CudaEvents(trace, {})
        strings = dict(database.all("rocpd_string", ("id", "string")))
        arguments = dict(database.all("rocpd_ustring", ("id", "string"))) or strings
        launches = {op: api for api, op in database.all("rocpd_api_ops", ("api_id", "op_id"))}
        sizes = dict(database.all("rocpd_copyapi", ("api_ptr_id", "size")))
        for kernels, copies in _operations(database, strings, launches, sizes):
            events.add_kernels(kernels)
            events.add_named_copies(copies)
        for calls, markers in _calls(database, strings, arguments):
            events.add_calls(calls)
            events.add_ranges(markers)
        events.close(database)
    return FileContent.of(trace)


def _operations(
    database: Database, strings: dict[Any, Any], launches: dict[Any, Any], sizes: dict[Any, Any]
) -> Iterator[tuple[list[Kernel], list[NamedCopy]]]:
    columns = ("id", "start", "end", "gpuId", "queueId", "description_id", "opType_id")
    for rows in database.rows("rocpd_op", columns):
        kernels, copies = [], []
        for number, start, end, device, queue, description, sort in rows:
            kind, api = str(strings.get(sort, "")), launches.get(number)
            if kind.startswith(_COPIES):
                copies.append(NamedCopy(start, end, device, queue, api, sizes.get(api), kind))
            else:
                kernels.append(Kernel(start, end, device, queue, api, strings.get(description) or kind))
        yield kernels, copies


def _calls(
    database: Database, strings: dict[Any, Any], arguments: dict[Any, Any]
) -> Iterator[tuple[list[Call], list[NvtxRange]]]:
    for rows in database.rows("rocpd_api", ("id", "start", "end", "tid", "apiName_id", "args_id")):
        calls, markers = [], []
        for number, start, end, thread, name, args in rows:
            text = str(strings.get(name, ""))
            if text in _MARKERS:
                markers.append(NvtxRange(start, end, thread, str(arguments.get(args) or text)))
            else:
                calls.append(Call(start, end, thread, number, text))
        yield calls, markers


READER = Reader("rpd", "rocmProfileData (.rpd)", claims, read)
