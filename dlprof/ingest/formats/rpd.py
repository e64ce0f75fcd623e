"""Reads databases of rocmProfileData (`.rpd`): kernels, copies, HIP calls and markers."""

from __future__ import annotations

from collections import defaultdict
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
        processes = _processes(database)
        for events.process, (kernels, copies) in _operations(database, strings, launches, sizes, processes):
            events.add_kernels(kernels)
            events.add_named_copies(copies)
        for events.process, (calls, markers) in _calls(database, strings, arguments, processes):
            events.add_calls(calls)
            events.add_ranges(markers)
        events.close(database)
    return FileContent.of_processes(events.traces())


def _processes(database: Database) -> dict[Any, Any]:
    """The process of each call, by its number; empty where all are of one: programs and their children share a file."""
    found = dict(database.all("rocpd_api", ("id", "pid")))
    return found if len(set(found.values()) - {None}) > 1 else {}


def _operations(
    database: Database,
    strings: dict[Any, Any],
    launches: dict[Any, Any],
    sizes: dict[Any, Any],
    processes: dict[Any, Any],
) -> Iterator[tuple[Any, tuple[list[Kernel], list[NamedCopy]]]]:
    """Kernels and copies, some at a time, by the process that launched them."""
    columns = ("id", "start", "end", "gpuId", "queueId", "description_id", "opType_id")
    for rows in database.rows("rocpd_op", columns):
        found: defaultdict[Any, tuple[list[Kernel], list[NamedCopy]]] = defaultdict(lambda: ([], []))
        for number, start, end, device, queue, description, sort in rows:
            kind, api = str(strings.get(sort, "")), launches.get(number)
            kernels, copies = found[processes.get(api)]
            if kind.startswith(_COPIES):
                copies.append(NamedCopy(start, end, device, queue, api, sizes.get(api), kind))
            else:
                kernels.append(Kernel(start, end, device, queue, api, strings.get(description) or kind))
        yield from found.items()


def _calls(
    database: Database, strings: dict[Any, Any], arguments: dict[Any, Any], processes: dict[Any, Any]
) -> Iterator[tuple[Any, tuple[list[Call], list[NvtxRange]]]]:
    """Calls and markers, some at a time, by their process."""
    for rows in database.rows("rocpd_api", ("id", "start", "end", "tid", "apiName_id", "args_id")):
        found: defaultdict[Any, tuple[list[Call], list[NvtxRange]]] = defaultdict(lambda: ([], []))
        for number, start, end, thread, name, args in rows:
            text = str(strings.get(name, ""))
            calls, markers = found[processes.get(number)]
            if text in _MARKERS:
                markers.append(NvtxRange(start, end, thread, str(arguments.get(args) or text)))
            else:
                calls.append(Call(start, end, thread, number, text))
        yield from found.items()


READER = Reader("rpd", "rocmProfileData (.rpd)", claims, read)
