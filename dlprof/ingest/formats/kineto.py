"""Reads traces of torch.profiler (Kineto), of any of its versions, from CUDA, ROCm or CPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.ingest.attribution import flops
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels import by_process, launchers
from dlprof.ingest.kernels.events import CPU, NONE, Booleans, Integers
from dlprof.ingest.kernels.scopes import BytesMoved
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse import memory_records
from dlprof.ingest.parse.chrome import US_AT_MOST, Args, ChromeFile, Event
from dlprof.ingest.parse.chrome_tables import Table, TableReader
from dlprof.ingest.parse.memory_records import MemoryRecords
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import EventKind

_XPU = ("xpu_runtime", "xpu_driver")
_CATEGORIES_OF_KIND = {
    EventKind.OPERATOR: ("cpu_op", "operator"),
    EventKind.KERNEL: ("kernel", "hpu_op", "mtia_ccp_events"),
    EventKind.TRANSFER: ("gpu_memcpy", "memcpy", "gpu_memset", "memset"),
    EventKind.RUNTIME: (
        "cuda_runtime",
        "runtime",
        "cuda_driver",
        "hip_runtime",
        "hip_driver",
        *_XPU,
        "privateuse1_runtime",
        "privateuse1_driver",
        "mtia_runtime",
        "glow_runtime",
    ),
    EventKind.ANNOTATION: ("user_annotation",),
    EventKind.PYTHON: ("python_function",),
}
"""The categories of the versions of torch.profiler, in lower case."""
_KINDS = {category: kind for kind, categories in _CATEGORIES_OF_KIND.items() for category in categories}
_UNLINKED = (EventKind.ANNOTATION, EventKind.PYTHON, EventKind.INPUT)
_OTHER = -1
"""Events that tell again what others tell, or that are of no use here."""
_NO_ARGS = Args()
_ABSENT = np.iinfo(np.int64).min
_HOST = CPU - 1
"""In place of a device, for lanes of the host: a kernel may say that it ran on device -1."""
_SHAPED = frozenset(flops.TORCH_OPERATORS)
_DEVICES_AT_MOST = 2**15
_RANGE = re.compile(r"(ProfilerStep|Optimizer\.(step|zero_grad))#")
_NEXT_BATCH = re.compile(r"enumerate\(DataLoader\)#")
_WAITING = re.compile(
    r"(cuda|hip|cu)\w*Synchronize$|^(cuda|hip)Memcpy(WithStream)?$|^ze\w*Synchronize$|^(ur|pi)\w*(Finish|Wait)$"
)
_REASONS = {
    "gpu_user_annotation": "annotations of the host once more, as the device saw them",
    "trace": "they tell how long the profiler ran",
    "overhead": "the profiler's own work",
    "cpu_instant_event": "what allocators took and gave back: they have no duration, and there is no table for them",
    "cuda_sync": "waits of streams, which the calls of the host tell too",
    "ac2g": "they take no time: launches are told by correlation numbers",
    "fwdbwd": "they take no time: sequence numbers tell the same",
}
_EXTERNAL_ID = re.compile(rb'"[Ee]xternal id"\s*:')
_CATEGORIES = frozenset((
    *_KINDS, *(category.capitalize() for category in _KINDS),
    "ac2g", "fwdbwd", "Trace", "cuda_sync", "gpu_user_annotation", "cpu_instant_event", "async",
))  # fmt: skip
"""Categories that traces of torch.profiler have; one alone may be that of another maker."""


def claims(sample: Sample) -> bool:
    """Whether a file has the keys of Kineto's traces, or events of its categories."""
    head = sample.chrome
    if head is None or head.keys:
        return head is not None
    seen = {event.cat for event in head.events if event.cat}
    if len(seen & _CATEGORIES) >= 2 or seen & {"cpu_op", "gpu_user_annotation", "cuda_runtime"}:
        return True
    # Of 2020 and 2021: a bare list that may begin with hundreds of operators, and none of another category.
    return bool(seen & _CATEGORIES and _EXTERNAL_ID.search(sample.head))


def read(path: Path) -> FileContent:
    """The events of a Kineto trace.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "kineto", "torch", attribution="autograd")
    work = _Work(trace)
    with TableReader(frozenset(_KINDS), frozenset(flops.TORCH_OPERATORS), memory_records.RECORD) as reader:
        for block in source.blocks(reader):
            batch = _of_events(block, work) if isinstance(block, list) else _of_table(block, work)
            if not isinstance(block, list):
                source.negative += int((batch.dur_us < 0).sum())
            source.malformed += work.add(batch)
    work.passed_over.tell(trace)
    _close(trace, source, work)
    return FileContent.of_processes(_processes(trace, work))


def _processes(trace: Trace, work: _Work) -> list[Trace]:
    """A trace for each process of the file, where it is one that was put together of several."""
    whose = launchers.of_lanes(trace, work.processes)
    names = {_process(name): said for name, said in work.process_names.items()}
    own = {_process(name): {"memory": work.memory.facts(name)} for name in set(whose) if name is not None}
    return by_process.told_apart(trace, [_process(name) for name in whose], names, own)


def _process(name: str | None) -> int | str | None:
    """A process by its number, as far as its name is one."""
    return int(name) if name is not None and re.fullmatch(r"\d{1,18}", name) else name


@dataclass
class _Batch:
    """Events of interest, by column; numbers that an event does not have are _ABSENT.

    Attributes:
        kind: Of `EventKind`.
        name: Number of the name in the trace.
        thread: Number of (process, thread) in `_Work.threads`.
        start_us: Start (us).
        dur_us: Duration (us).
        correlation: What a call of the runtime and its kernels have in common.
        sequence: Sequence number of autograd.
        device: Number of the device.
        scope: Number of a text on shapes or bytes in the trace, or NONE.
    """

    kind: Integers
    name: Integers
    thread: Integers
    start_us: npt.NDArray[np.float64]
    dur_us: npt.NDArray[np.float64]
    correlation: Integers
    sequence: Integers
    device: Integers
    scope: Integers


class _Numbers(dict[Any, int]):
    """A value to its number, by a function that is asked once per value."""

    def __init__(self, number: Callable[[Any], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, value: Any) -> int:
        budget().hold_texts(1, len(value) if isinstance(value, str) else 0, "distinct names and numbers")
        self[value] = number = self._number(value)
        return number


class _Grown:
    """What is told of each of a growing row of values, as an array; each value is looked at once.

    Args:
        tell: Tells it of some values.
        kind: Type of the array.
    """

    def __init__(self, tell: Callable[[Sequence[Any]], Sequence[Any]], kind: np.dtype[Any]) -> None:
        self._tell = tell
        self._array: npt.NDArray[Any] = np.zeros(64, kind)
        self._size = 0

    def of(self, values: Sequence[Any]) -> npt.NDArray[Any]:
        """The array, which may be longer than the values."""
        if len(values) > len(self._array):
            grown = np.zeros(2 * len(values), self._array.dtype)
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : len(values)] = self._tell(values[self._size :])
        self._size = len(values)
        return self._array


class _Work:
    """Turns batches into columns of the trace; by columns, because there are millions of events."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.kinds = _Numbers(lambda category: int(_KINDS.get((category or "").lower(), _OTHER)))
        self.names = _Numbers(lambda name: trace.names.number(str(name)))
        self.bytes = _Numbers(lambda text: trace.scopes.number(BytesMoved(_number(text, 0))))
        self.shapes = _Numbers(lambda dims: trace.scopes.number(flops.TorchShapes(dims)))
        self.threads = _Numbers(self._thread)
        self._keys: list[tuple[str, str]] = []
        self._processes = _Grown(lambda keys: [_number(pid, 0) for pid, _ in keys], np.dtype(np.int64))
        self._lanes = _Numbers(self._lane)
        self._named: dict[re.Pattern[str], _Grown] = {}
        self._thread_names: dict[tuple[str, str], str] = {}
        self.processes: list[str] = []
        """What the file calls the process of each lane."""
        self.process_names: dict[str, str] = {}
        self.passed_over = PassedOver(_REASONS)
        self.memory = MemoryRecords()

    def add(self, batch: _Batch) -> int:
        """Add a batch; how many of its events have times that make no sense and were passed over."""
        good = (np.abs(batch.start_us) < US_AT_MOST) & (np.abs(batch.dur_us) < US_AT_MOST)
        good &= batch.start_us + batch.dur_us < US_AT_MOST
        if not good.all():
            batch = _Batch(**{name: column[good] for name, column in vars(batch).items()})
        kind = batch.kind
        kind[(kind == EventKind.RUNTIME) & self._is_named(_WAITING, batch.name)] = EventKind.WAIT
        # Older versions have ranges among their operators.
        ranges = (kind == EventKind.OPERATOR) | (kind == EventKind.ANNOTATION)
        kind[ranges & self._is_named(_RANGE, batch.name)] = EventKind.ANNOTATION
        kind[ranges & self._is_named(_NEXT_BATCH, batch.name)] = EventKind.INPUT
        on_device = (kind == EventKind.KERNEL) | (kind == EventKind.TRANSFER)
        device = np.where(on_device, self._devices(batch), CPU)
        link = np.where(kind == EventKind.OPERATOR, batch.sequence, batch.correlation)
        self.trace.add(
            kind=kind,
            name=batch.name,
            start=_as_ns(batch.start_us),
            dur=_as_ns(np.maximum(0, batch.dur_us)),
            device=device,
            lane=self._lane_numbers(batch.thread, np.where(on_device, device, _HOST)),
            link=np.where((link == _ABSENT) | np.isin(kind, _UNLINKED), NONE, link),
            scope=batch.scope,
        )
        return int((~good).sum())

    def _is_named(self, pattern: re.Pattern[str], names: Integers) -> Booleans:
        """Whether the name of each event has the pattern."""
        if pattern not in self._named:
            self._named[pattern] = _Grown(lambda texts: [bool(pattern.search(t)) for t in texts], np.dtype(np.bool_))
        return self._named[pattern].of(self.trace.names.values)[names]

    def _devices(self, batch: _Batch) -> Integers:
        """The device that each event names; else its process number is that of the device."""
        device = np.where(batch.device == _ABSENT, self._processes.of(self._keys)[batch.thread], batch.device)
        return np.where((device >= CPU) & (device < _DEVICES_AT_MOST), device, 0)

    def _lane_numbers(self, thread: Integers, device: Integers) -> Integers:
        """The lane of each (thread, device)."""
        wide = device.max(initial=0) - _HOST + 1
        code = thread * wide + (device - _HOST)
        unique, places = _distinct(code)
        numbers = [self._lanes[*self._keys[c // wide], c % wide + _HOST] for c in unique.tolist()]
        return np.asarray(numbers or [0], np.int64)[places]

    def _thread(self, key: tuple[str, str]) -> int:
        self._keys.append(key)
        return len(self._keys) - 1

    def take_name(self, what: Any, key: tuple[str, str], name: str) -> None:
        """Remember what a thread (process, thread), or a process, is called."""
        if what == "thread_name":
            if key not in self._thread_names:
                budget().hold_texts(2, len(name), "names of threads")
            self._thread_names[key] = name
        elif what == "process_name":
            if key[0] not in self.process_names:
                budget().hold_texts(2, by_process.NAME_AT_MOST, "names of processes")
            self.process_names[key[0]] = name[: by_process.NAME_AT_MOST]

    def remembers(self, event: Event) -> bool:
        """Whether an event is a record of an allocator, which is taken then."""
        record = memory_records.row(event, _key(event)[0])
        if record is not None:
            self.memory.take([record])
        return record is not None

    def name_lanes(self) -> None:
        """Give all threads their names."""
        for (pid, tid), name in self._thread_names.items():
            self.trace.rename_lane((pid, tid, CPU), name)

    def _lane(self, key: tuple[str, str, int]) -> int:
        pid, tid, device = key
        self.processes.append(pid)  # a key is asked for once, and is of a lane of its own
        if device == _HOST:
            return self.trace.lane((pid, tid, CPU), Lane(_number(pid, 0), _number(tid, 0), tid))
        stream = _number(tid, 0)
        return self.trace.lane((pid, tid, "device", device), Lane(_number(pid, 0), stream, f"stream {stream}", device))


def _of_events(events: list[Event], work: _Work) -> _Batch:
    """The batch of events that were read one by one."""
    for event in events:
        if event.ph == "M" and event.args is not None and event.args.name is not None:
            work.take_name(event.name, _key(event), str(event.args.name))
    kinds, names, threads = work.kinds, work.names, work.threads
    work.passed_over.add_all(
        event for event in events if (event.ph != "X" or kinds[event.cat] == _OTHER) and not work.remembers(event)
    )
    chosen = [event for event in events if event.ph == "X" and kinds[event.cat] != _OTHER]
    arguments = [event.args or _NO_ARGS for event in chosen]
    scope = np.full(len(chosen), NONE, np.int64)
    for at, (event, args) in enumerate(zip(chosen, arguments, strict=True)):
        if args.bytes is not None and kinds[event.cat] in (EventKind.KERNEL, EventKind.TRANSFER):
            scope[at] = work.bytes[args.bytes]
        elif args.dims and event.name in _SHAPED and kinds[event.cat] == EventKind.OPERATOR:
            scope[at] = work.shapes[bytes(args.dims).decode("utf-8", "replace")]
    return _Batch(
        np.array([kinds[event.cat] for event in chosen], np.int64),
        np.array([names[event.name or ""] for event in chosen], np.int64),
        np.array([threads[_key(event)] for event in chosen], np.int64),
        np.array([event.ts for event in chosen], float),
        np.array([event.dur for event in chosen], float),
        np.array([_number(args.correlation, _ABSENT) for args in arguments], np.int64),
        np.array([_number(args.sequence, _ABSENT) for args in arguments], np.int64),
        np.array([_number(args.device, _ABSENT) for args in arguments], np.int64),
        scope,
    )


def _key(event: Event) -> tuple[str, str]:
    pid, tid = (0 if value is None else value for value in (event.pid, event.tid))
    return str(pid), str(tid)


def _of_table(block: Table, work: _Work) -> _Batch:
    """The batch of a table of `TableReader`."""
    work.memory.take(block.memory)
    for phase, category, events in block.others:
        work.passed_over.count(phase, category, events)
    table = block.rows
    metadata = table.filter(table["is_metadata"])
    for row in metadata.select(["name", "pid", "tid", "named"]).to_pylist() if metadata.num_rows else ():
        if row["named"] is not None:
            work.take_name(row["name"], (row["pid"], row["tid"]), row["named"])
    if metadata.num_rows:
        table = table.filter(pc.invert(table["is_metadata"]))
    kind = _mapped(table["cat"], work.kinds)
    on_device = (kind == EventKind.KERNEL) | (kind == EventKind.TRANSFER)
    scope = np.where(on_device, _mapped(table["bytes"], work.bytes), NONE)
    dims = _mapped(table["dims"], work.shapes)
    return _Batch(
        kind,
        _mapped(table["name"], work.names),
        _paired(table["pid"], table["tid"], work.threads),
        table["ts"].to_numpy(),
        table["dur"].to_numpy(),
        _integers(table["correlation"]),
        _integers(table["sequence"]),
        _integers(table["device"]),
        np.where(kind == EventKind.OPERATOR, dims, scope),
    )


def _mapped(texts: pa.ChunkedArray, known: _Numbers) -> Integers:
    """The number of each text, NONE for none."""
    encoded = texts.combine_chunks()
    # The last one is what the code -1 of null leads to.
    numbers: Integers = np.asarray([*(known[text] for text in encoded.dictionary.to_pylist()), NONE], np.int64)
    return numbers[_codes(encoded)]


def _codes(texts: Any) -> Integers:
    indices = texts.indices
    codes: Integers = np.asarray(indices.fill_null(-1) if indices.null_count else indices, np.int64)
    return codes


def _paired(firsts: pa.ChunkedArray, seconds: pa.ChunkedArray, numbers: _Numbers) -> Integers:
    """The number of each pair of texts."""
    left, right = firsts.combine_chunks(), seconds.combine_chunks()
    size = max(1, len(right.dictionary))
    # Only the pairs that there are: of as many threads as processes a table of all pairs would be their square.
    codes, places = _distinct(_codes(left) * size + _codes(right))
    texts, others = left.dictionary.to_pylist(), right.dictionary.to_pylist()
    numbered = [numbers[texts[code // size], others[code % size]] for code in codes.tolist()]
    table: Integers = np.asarray(numbered, np.int64)
    found: Integers = table[places]
    return found


def _distinct(codes: Integers) -> tuple[Integers, Integers]:
    """The distinct numbers, and for each of `codes` the place of its own; hashed, not sorted."""
    encoded = pa.array(codes).dictionary_encode()
    return np.asarray(encoded.dictionary, np.int64), np.asarray(encoded.indices, np.int64)


def _integers(column: pa.ChunkedArray) -> Integers:
    numbers = np.asarray(column.combine_chunks().fill_null(_ABSENT), np.int64)
    large: Booleans = (numbers != _ABSENT) & ((numbers >= 2**62) | (numbers <= -(2**62)))
    return np.asarray(np.where(large, numbers % 2**31, numbers), np.int64)


def _as_ns(us: npt.NDArray[np.float64]) -> Integers:
    """Microseconds as nanoseconds; Unix times keep the digits that a product would lose."""
    whole = np.floor(us)
    return whole.astype(np.int64) * 1000 + np.rint((us - whole) * 1000).astype(np.int64)


def _number(value: Any, default: Any) -> Any:
    """`value` as a number, also one in a text such as `stream 7` or `0x0`; else the default."""
    if type(value) is int:
        return value if -(2**62) < value < 2**62 else value % 2**31
    if type(value) is float:
        return int(value) if -(2**62) < value < 2**62 else default
    if type(value) is str:
        match = re.fullmatch(r"(?:stream )?(0x[0-9a-fA-F]+|-?\d+)(?:\.0*)?", value)
        if match:
            return _number(int(match[1], 0) if match[1][:2] == "0x" else int(match[1]), default)
    return default


def _said(value: Any) -> str | int | None:
    """A value that the file gives, if it is a text or a number."""
    return value if isinstance(value, str) or (type(value) is int and abs(value) < 2**62) else None


def _close(trace: Trace, source: ChromeFile, work: _Work) -> None:
    work.name_lanes()
    top = source.top
    base = top.get("baseTimeNanoseconds")
    trace.zero_ns = base if isinstance(base, int) and 0 <= base < 2**62 else 0
    distributed = top.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    devices = top.get("deviceProperties")
    devices = [d for d in devices if isinstance(d, dict)] if isinstance(devices, list) else []
    trace.facts = {
        "rank": _said(distributed.get("rank")),
        "world_size": _said(distributed.get("world_size")),
        "distributed_backend": _said(distributed.get("backend")),
        "devices": _devices(devices, work),
        "host": _said(top.get("host_name")),
        "schema_version": _said(top.get("schemaVersion")),
        "memory": work.memory.facts(),
    }
    source.judge(trace)


def _devices(told: list[dict[str, Any]], work: _Work) -> list[dict[str, Any]]:
    """The devices that the file describes; those of Intel are only known by what ran on them."""
    if any((category or "").lower() in _XPU for category in work.kinds):
        numbers = sorted({lane.device for lane in work.trace.lanes} - {CPU})
        return [{"device": number, "name": None, "kind": "xpu"} for number in numbers]
    return [{"device": d["id"], "name": _said(d.get("name"))} for d in told if isinstance(_said(d.get("id")), int)]


READER = Reader("kineto", "torch.profiler (JSON, also .gz)", claims, read)
