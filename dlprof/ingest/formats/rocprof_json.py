"""Reads the JSON of rocprofv3 (`--output-format json`): kernels, copies, calls and markers of each process.

The file is one object that is decoded whole; of each record only what is read is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.cuda_sqlite import Call, CudaEvents, Kernel, NamedCopy, NvtxRange
from dlprof.ingest.parse.packed import whole

_KEY = b'"rocprofiler-sdk-tool"'
_GPU = 2
"""Type of an agent that is a GPU."""
_READ = ("kernel_dispatch", "memory_copy")
_CALLS = ("hip_api", "hsa_api", "rccl_api", "rocdecode_api", "rocjpeg_api", "ompt")
_MARKERS = "marker_api"
_BATCH = 20_000


class _Handle(msgspec.Struct):
    handle: int = 0


class _Correlation(msgspec.Struct):
    internal: int = 0


class _Dispatch(msgspec.Struct):
    agent_id: _Handle = msgspec.field(default_factory=_Handle)
    queue_id: _Handle = msgspec.field(default_factory=_Handle)
    kernel_id: int = 0


class _Record(msgspec.Struct):
    """A record of any sort; what a sort does not have is left at its default."""

    start_timestamp: int
    end_timestamp: int
    kind: int = 0
    operation: int = 0
    thread_id: int = 0
    correlation_id: _Correlation = msgspec.field(default_factory=_Correlation)
    dispatch_info: _Dispatch = msgspec.field(default_factory=_Dispatch)
    dst_agent_id: _Handle = msgspec.field(default_factory=_Handle)
    src_agent_id: _Handle = msgspec.field(default_factory=_Handle)
    bytes: int | None = None


class _Agent(msgspec.Struct):
    id: _Handle
    type: int = 0
    logical_node_type_id: int = -1
    product_name: str = ""
    name: str = ""


class _Symbol(msgspec.Struct):
    kernel_id: int
    formatted_kernel_name: str = ""
    kernel_name: str = ""


class _Operations(msgspec.Struct):
    kind: str = ""
    operations: Sequence[str] = ()


class _Text(msgspec.Struct):
    key: int
    value: str


class _Strings(msgspec.Struct):
    buffer_records: Sequence[_Operations] = ()
    marker_api: Sequence[_Text] = ()


class _Metadata(msgspec.Struct):
    pid: int | None = None


class _Process(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    agents: Sequence[_Agent] = ()
    strings: _Strings = msgspec.field(default_factory=_Strings)
    kernel_symbols: Sequence[_Symbol] = ()
    buffer_records: Mapping[str, msgspec.Raw] = msgspec.field(default_factory=dict)


class _File(msgspec.Struct):
    processes: Sequence[_Process] = msgspec.field(name="rocprofiler-sdk-tool")


def claims(sample: Sample) -> bool:
    """Whether the file is an object of rocprofv3's."""
    return sample.head.lstrip()[:1] == b"{" and _KEY in sample.head[:4096]


def read(path: Path) -> FileContent:
    """The records of all processes.

    Raises:
        ArtifactError: The file is damaged.
    """
    text = whole(path)
    trace = Trace(path, "rocprof-json", "rocm", attribution="range", facts={"clock": "machine", "devices": []})
    events = CudaEvents(trace, {})
    try:
        for process in msgspec.json.decode(text, type=_File).processes:
            events.process = process.metadata.pid
            _Reading(trace, events, process).add()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ArtifactError(f"damaged: {error}", path=path) from error
    events.say_odd()
    return FileContent.of_processes(events.traces())


class _Reading:
    """The records of one process."""

    def __init__(self, trace: Trace, events: CudaEvents, process: _Process) -> None:
        self._trace = trace
        self._events = events
        self._process = process
        gpus = [agent for agent in process.agents if agent.type == _GPU]
        self._devices = {
            gpu.id.handle: gpu.logical_node_type_id if gpu.logical_node_type_id >= 0 else place
            for place, gpu in enumerate(gpus)
        }
        self._kernels = {one.kernel_id: one.formatted_kernel_name or one.kernel_name for one in process.kernel_symbols}
        known = trace.facts["devices"]
        names = [{"device": self._devices[g.id.handle], "name": g.product_name or g.name} for g in gpus]
        known += [device for device in names if device not in known]

    def add(self) -> None:
        """Give all that is read to the trace, and count the rest."""
        for records in self._records("kernel_dispatch"):
            self._events.add_kernels([self._kernel(record) for record in records])
        for records in self._records("memory_copy"):
            self._events.add_named_copies([self._copy(record) for record in records])
        for sort in _CALLS:
            for records in self._records(sort):
                self._events.add_calls([self._call(record) for record in records])
        texts = {text.key: text.value for text in self._process.strings.marker_api}
        for records in self._records(_MARKERS):
            self._events.add_ranges([self._marker(record, texts) for record in records])
        for sort, raw in self._process.buffer_records.items():
            if sort not in {*_READ, *_CALLS, _MARKERS, "names"}:
                count = len(msgspec.json.decode(raw, type=list[msgspec.Raw])) if bytes(raw).startswith(b"[") else 0
                self._trace.skip(f"records of {sort[:60]}", count, "a sort of record that is not read")

    def _records(self, sort: str) -> Iterator[Sequence[_Record]]:
        """The records of a sort, some at a time: they take many times as much memory as their text."""
        raw = self._process.buffer_records.get(sort)
        texts = msgspec.json.decode(raw, type=list[msgspec.Raw]) if raw is not None else []
        for at in range(0, len(texts), _BATCH):
            yield msgspec.json.decode(b"[" + b",".join(texts[at : at + _BATCH]) + b"]", type=list[_Record])

    def _kernel(self, record: _Record) -> Kernel:
        info = record.dispatch_info
        device = self._devices.get(info.agent_id.handle, 0)
        name = self._kernels.get(info.kernel_id) or f"kernel {info.kernel_id}"
        times = record.start_timestamp, record.end_timestamp
        return Kernel(*times, device, info.queue_id.handle, record.correlation_id.internal, name)

    def _copy(self, record: _Record) -> NamedCopy:
        devices = (self._devices.get(agent.handle) for agent in (record.dst_agent_id, record.src_agent_id))
        device = next((number for number in devices if number is not None), 0)
        name = self._operation(record).removeprefix("MEMORY_COPY_")
        times = record.start_timestamp, record.end_timestamp
        return NamedCopy(*times, device, None, record.correlation_id.internal, record.bytes, name)

    def _call(self, record: _Record) -> Call:
        times = record.start_timestamp, record.end_timestamp
        return Call(*times, record.thread_id, record.correlation_id.internal, self._operation(record))

    def _marker(self, record: _Record, texts: Mapping[int, str]) -> NvtxRange:
        name = texts.get(record.correlation_id.internal) or self._operation(record)
        return NvtxRange(record.start_timestamp, record.end_timestamp, record.thread_id, name)

    def _operation(self, record: _Record) -> str:
        kinds = self._process.strings.buffer_records
        names = kinds[record.kind].operations if 0 <= record.kind < len(kinds) else ()
        return names[record.operation] if 0 <= record.operation < len(names) else f"operation {record.operation}"


READER = Reader("rocprof-json", "rocprofv3 (JSON)", claims, read)
