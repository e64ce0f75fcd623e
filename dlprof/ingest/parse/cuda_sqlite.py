"""What the SQLite files of nvprof and Nsight Systems have in common: kernels, copies, API calls and NVTX ranges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dlprof.ingest.kernels import by_process
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.scopes import BytesMoved
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.sqlite_files import Database
from dlprof.schema.vocabulary import EventKind

_COPY_NAMES = {1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 10: "PtoP"}
_COPIES = {"CUPTI_ACTIVITY_KIND_MEMCPY": "memcpy", "CUPTI_ACTIVITY_KIND_MEMSET": "memset"}
_DEVICES_AT_MOST = 1 << 15
_REASONS = {
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "waits, which the calls of the API tell too",
    "CUPTI_ACTIVITY_KIND_OVERHEAD": "the profiler's own work",
    "PROFILER_OVERHEAD": "the profiler's own work",
    "DIAGNOSTIC_EVENT": "messages of the profiler",
    "SCHED_EVENTS": "when the system gave threads a core; no thread's work is told",
    "COMPOSITE_EVENTS": "samples of stacks, which are not read from this format",
    "rocpd_monitor": "clocks and temperatures of the device; there is no table for them",
    "OSRT_API": "calls of the system's library",
}
_COPY_COLUMNS = ("start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind", "globalPid")
_PACKED = 1 << 40
"""From here on a number is host, process and thread in one: so Nsight Systems packs them, 24 bits of each."""


class Kernel(NamedTuple):
    """A row of a table of kernels; what SQLite gives may be of any type."""

    start: Any
    end: Any
    device: Any
    stream: Any
    correlation: Any
    name: Any
    """Number of its string."""
    process: Any = None
    """As Nsight Systems numbers it; None: that of the reader."""


class Copy(NamedTuple):
    """A row of a table of copies or memsets."""

    start: Any
    end: Any
    device: Any
    stream: Any
    correlation: Any
    size: Any
    way: Any
    """From where to where, as CUPTI numbers it."""
    process: Any = None


class NamedCopy(NamedTuple):
    """A copy or a memset that has a name of its own."""

    start: Any
    end: Any
    device: Any
    stream: Any
    correlation: Any
    size: Any
    name: str
    process: Any = None


class Call(NamedTuple):
    """A call of the CUDA API."""

    start: Any
    end: Any
    thread: Any
    correlation: Any
    name: str


class NvtxRange(NamedTuple):
    """A range that the program named."""

    start: Any
    end: Any
    thread: Any
    name: str


_Timed = TypeVar("_Timed", Kernel, Copy, NamedCopy, Call, NvtxRange)


class CudaEvents:
    """Gives the rows of either tool to a trace.

    Args:
        trace: Takes them.
        strings: The strings of the file, by number.

    Attributes:
        process: The process of rows that do not tell theirs; None: not known.
    """

    def __init__(self, trace: Trace, strings: dict[Any, Any]) -> None:
        self._trace = trace
        self._strings = strings
        self._odd = 0
        self._processes: list[Hashable] = []
        """Of each lane."""
        self.process: Hashable = None

    def text(self, number: Any) -> str:
        """A string of the file by its number."""
        return str(self._strings.get(number, number if number is not None else ""))

    def name_threads(self, rows: Sequence[tuple[Any, Any]]) -> None:
        """Remember the names of threads: (thread, number of its name)."""
        for thread, name in rows:
            self._thread(thread, self.text(name))

    def _thread(self, thread: Any, name: str | None = None) -> int:
        number = thread if isinstance(thread, int) else 0
        process, low = _unpacked(number)
        lane = Lane(process or 0, low, name or str(low))
        return self._lane("thread", thread, self.process if process is None else process, lane)

    def _stream(self, device: Any, stream: Any, told: Any) -> int:
        number = stream if isinstance(stream, int) else 0
        process, _ = _unpacked(told if isinstance(told, int) else 0)
        lane = Lane(0, number, f"stream {stream}", device)
        return self._lane(device, stream, self.process if process is None else process, lane)

    def _lane(self, what: Any, which: Any, process: Hashable, lane: Lane) -> int:
        number = self._trace.lane((what, which, process), lane)
        if number == len(self._processes):
            self._processes.append(process)
        return number

    def add_kernels(self, rows: Sequence[Kernel]) -> None:
        """Add kernels."""
        self._add(rows, lambda row: self._on_device(EventKind.KERNEL, row, self.text(row.name)))

    def add_copies(self, database: Database) -> None:
        """Add the copies and memsets of a file: both tools have the same tables of them."""
        for table, what in _COPIES.items():
            for rows in database.rows(table, _COPY_COLUMNS):
                self._add([Copy(*row) for row in rows], partial(self._copy, what))

    def add_named_copies(self, rows: Sequence[NamedCopy]) -> None:
        """Add copies and memsets."""
        self._add(rows, lambda row: self._sized(row, row.name))

    def _copy(self, what: str, row: Copy) -> EventRow:
        return self._sized(row, f"{what} {_COPY_NAMES.get(row.way, row.way)}" if what == "memcpy" else what)

    def _sized(self, row: Copy | NamedCopy, name: str) -> EventRow:
        scope = self._trace.scopes.number(BytesMoved(row.size)) if isinstance(row.size, int) else NONE
        return self._on_device(EventKind.TRANSFER, row, name)._replace(scope=scope)

    def _on_device(self, kind: EventKind, row: Kernel | Copy | NamedCopy, name: str) -> EventRow:
        device = row.device if isinstance(row.device, int) and 0 <= row.device < _DEVICES_AT_MOST else 0
        lane = self._stream(device, row.stream, row.process)
        number = self._trace.names.number(name)
        return EventRow(kind, number, row.start, row.end - row.start, lane, device, _link(row.correlation))

    def add_calls(self, rows: Sequence[Call]) -> None:
        """Add calls of the CUDA API."""
        self._add(rows, self._call)

    def _call(self, row: Call) -> EventRow:
        kind = EventKind.WAIT if "ynchronize" in row.name else EventKind.RUNTIME
        number, lane = self._trace.names.number(row.name), self._thread(row.thread)
        return EventRow(kind, number, row.start, row.end - row.start, lane, CPU, _link(row.correlation))

    def add_operators(self, rows: Sequence[Call]) -> None:
        """Add calls into libraries: operators of the host."""
        self._add(rows, lambda row: self._call(row)._replace(kind=EventKind.OPERATOR, link=NONE))

    def add_ranges(self, rows: Sequence[NvtxRange]) -> None:
        """Add NVTX ranges."""
        self._add(rows, self._range)

    def _range(self, row: NvtxRange) -> EventRow:
        number, lane = self._trace.names.number(row.name), self._thread(row.thread)
        return EventRow(EventKind.ANNOTATION, number, row.start, row.end - row.start, lane)

    def _add(self, rows: Sequence[_Timed], make: Callable[[_Timed], EventRow]) -> None:
        """Add the rows whose times make sense."""
        good = [row for row in rows if _is_sensible(row.start, row.end)]
        self._odd += len(rows) - len(good)
        self._trace.add_rows([make(row) for row in good])

    def close(self, database: Database) -> None:
        """Say what was left out, and which tables were not read."""
        for table, count in database.unread_events():
            self._trace.skip(f"rows of {table}", count, _REASONS.get(table, "a table that is not read"))
        self.say_odd()

    def traces(self, names: Mapping[Any, str] | None = None) -> list[Trace]:
        """A trace for each process: calls of different processes may have the same numbers.

        Args:
            names: What processes are called.
        """
        return by_process.told_apart(self._trace, self._processes, names or {})

    def say_odd(self) -> None:
        """Say how many rows have no sensible times."""
        text = f"{self._odd} rows of {self._trace.path.name} have no sensible times and were passed over."
        self._trace.drop("trace-malformed", "warning", text, self._odd)


def _unpacked(number: int) -> tuple[int | None, int]:
    """Process, if the number holds one, and thread."""
    return ((number >> 24) & 0xFFFFFF, number & 0xFFFFFF) if number > _PACKED else (None, number)


def process_number(packed: Any) -> int | None:
    """The number of a process, of that in which Nsight Systems packs it; None: it is in none."""
    return _unpacked(packed)[0] if isinstance(packed, int) else None


def _is_sensible(start: Any, end: Any) -> bool:
    return type(start) is int and type(end) is int and 0 <= start <= end < 2**62


def _link(correlation: Any) -> int:
    return correlation if isinstance(correlation, int) and correlation else NONE
