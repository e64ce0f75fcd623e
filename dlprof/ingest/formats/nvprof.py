"""Reads databases of nvprof (`nvprof -o FILE`): kernels, copies, API calls and NVTX ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Kernel, NvtxRange
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.sqlite_files import Database, holds_table

_KERNELS = ("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL")
_CALLS = {"CUPTI_ACTIVITY_KIND_RUNTIME": "runtime", "CUPTI_ACTIVITY_KIND_DRIVER": "driver"}
_RUNTIME_CALLS = {
    10: "cudaGetLastError", 13: "cudaLaunch", 16: "cudaSetDevice", 17: "cudaGetDevice", 20: "cudaMalloc",
    22: "cudaFree", 31: "cudaMemcpy", 41: "cudaMemcpyAsync", 51: "cudaMemsetAsync", 131: "cudaStreamSynchronize",
    135: "cudaEventRecord", 137: "cudaEventSynchronize", 165: "cudaDeviceSynchronize", 211: "cudaLaunchKernel",
}  # fmt: skip
"""Names of callback numbers of the CUDA runtime (cupti_runtime_cbid.h), as far as they matter here."""


def claims(sample: Sample) -> bool:
    """Whether the file is a database of nvprof."""
    return holds_table(sample.path, sample.head, ("StringTable", "CUPTI_ACTIVITY_KIND_DRIVER"))


def read(path: Path) -> FileContent:
    """A database of nvprof.

    Raises:
        ArtifactError: The file is damaged.
    """
    with Database(path) as database:
        trace = Trace(path, "nvprof", "cuda", attribution="range", zero_ns=0)
        events = CudaEvents(trace, dict(database.all("StringTable", ("_id_", "value"))))
        for table in _KERNELS:
            for rows in database.rows(table, ("start", "end", "deviceId", "streamId", "correlationId", "name")):
                events.add_kernels([Kernel(*row) for row in rows])
        events.add_copies(database)
        for table, layer in _CALLS.items():
            for rows in database.rows(table, ("start", "end", "threadId", "correlationId", "cbid")):
                events.add_calls(
                    [
                        Call(start, end, thread, link, events.text(_call_name(layer, callback)))
                        for start, end, thread, link, callback in rows
                    ]
                )
        markers = database.rows("CUPTI_ACTIVITY_KIND_MARKER", ("timestamp", "id", "name", "objectId"))
        for ranges in _paired(markers, events):
            events.add_ranges(ranges)
        devices = database.all("CUPTI_ACTIVITY_KIND_DEVICE", ("id", "name"))
        named = [{"device": number, "name": events.text(name)} for number, name in devices if isinstance(number, int)]
        trace.facts = {"devices": named}
        events.close(database)
    return FileContent.of(trace)


def _call_name(layer: str, callback: Any) -> str:
    return (_RUNTIME_CALLS.get(callback) if layer == "runtime" else None) or f"CUDA {layer} call {callback}"


def _paired(batches: Iterator[Sequence[tuple[Any, ...]]], events: CudaEvents) -> Iterator[list[NvtxRange]]:
    """Markers as ranges: a begin has a name, the end with the same id has none."""
    open_: OpenEvents[NvtxRange] = OpenEvents()
    for rows in batches:
        ranges = []
        for time, number, name, owner in rows:
            if open_.last(number) is None:
                open_.begin(number, NvtxRange(time, None, _thread_of(owner), events.text(name)))
            elif begun := open_.end(number):
                ranges.append(begun._replace(end=time))
        yield ranges


def _thread_of(owner: Any) -> int:
    """The thread in the object identifier of a marker: the number after that of the process."""
    return int.from_bytes(owner[4:8], "little") if isinstance(owner, bytes) and len(owner) >= 8 else 0


READER = Reader("nvprof", "nvprof's own file (nvprof -o)", claims, read)
