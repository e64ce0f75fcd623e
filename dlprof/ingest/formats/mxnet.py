"""Reads traces of MXNet's profiler."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns, judge_unpaired
from dlprof.ingest.parse.open_events import OpenEvents
from dlprof.ingest.parse.passed_over import PassedOver
from dlprof.schema.vocabulary import EventKind

_HOUSEKEEPING = ("Delete", "WaitForVar", "SetupExec", "Resource", "SetValueOp_clean")
_WAITING = ("MXNDArraySyncCopyToCPU", "MXNDArrayWaitAll", "MXNDArrayWaitToRead", "MXNDArraySyncCopyFromCPU")
_COPIES = "Copy"
_OPERATOR = "operator"
_API = "MXNET_C_API"
_OWN = "dlprof"
_NO_DOMAINS = frozenset((_OPERATOR, _API, _OWN, "", None))
_DEVICES = frozenset(("cpu pinned/", "cpu shared/"))


def claims(sample: Sample) -> bool:
    """Whether a file names devices as MXNet does, or calls of its C API."""
    head = sample.chrome
    if head is None:
        return False
    return bool(_DEVICES & head.process_names()) or any(event.cat == _API for event in head.events)


def read(path: Path) -> FileContent:
    """The operators of a trace of MXNet, the calls of its C API that wait for them, and the ranges of the user's.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "mxnet", "mxnet", attribution="order", zero_ns=0)
    reading = _Reading(trace)
    for events in source.pieces():
        for event in events:
            reading.take(event)
        reading.flush()
    reading.close()
    source.judge(trace)
    return FileContent.of(trace)


class _Sort(Enum):
    """What an event is of, and what its lane is called."""

    ENGINE = "engine"
    API = "C API"
    RANGE = "ranges"
    """`profiler.Task`, `Frame` and `Event`: their category is the user's domain."""


@dataclass(frozen=True)
class _Edge:
    """A begin or an end that waits for the other."""

    ts: float
    begins: bool


class _Reading:
    """Pairs begins and ends; the file is not in order of time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._devices: dict[Any, str] = {}
        self._waiting: OpenEvents[_Edge] = OpenEvents()
        self._rows: list[EventRow] = []
        self._passed_over = PassedOver({_OWN: "dlprof's own marks"})

    def take(self, event: Event) -> None:
        """Take the next event."""
        if event.ph in ("B", "E") and event.cat == _OPERATOR:
            self._edge(event, event.tid, _Sort.ENGINE)
        elif event.ph in ("b", "e") and event.cat == _API:
            self._edge(event, event.id, _Sort.API)
        elif event.ph in ("b", "e", "B", "E") and event.cat not in _NO_DOMAINS:
            self._edge(event, event.tid if event.id is None else event.id, _Sort.RANGE)
        elif event.ph == "X" and event.cat != _OWN:
            self._row(event, event.ts, event.ts + max(0.0, event.dur), _Sort.ENGINE)
        elif event.ph == "M" and event.name == "process_name" and event.args is not None:
            self._devices[event.pid] = str(event.args.name)
        else:
            self._passed_over.add(event)

    def _edge(self, event: Event, which: Any, sort: _Sort) -> None:
        key = (sort, event.pid, which, event.name)
        begins = event.ph in ("b", "B")
        other = self._waiting.last(key)
        if other is not None and other.begins != begins:
            self._waiting.end(key)
            low, high = sorted((other.ts, event.ts))
            self._row(event, low, high, sort)
        else:
            self._waiting.begin(key, _Edge(event.ts, begins))

    def _row(self, event: Event, start_us: float, end_us: float, sort: _Sort) -> None:
        name = str(event.name)
        device = self._device(event.pid) if sort is _Sort.ENGINE else CPU
        tid = event.tid if isinstance(event.tid, int) else zlib.crc32(str(event.tid).encode())
        lane_name = f"{sort.value} {tid % 2**32:08x}" if sort is _Sort.ENGINE else sort.value
        lane = self._trace.lane((sort, event.pid, event.tid), Lane(0, tid % 2**62, lane_name, device))
        kind = _kind(name, device, sort)
        start = as_ns(start_us)
        self._rows.append(EventRow(kind, self._trace.names.number(name), start, as_ns(end_us) - start, lane, device))

    def _device(self, pid: Any) -> int:
        name = self._devices.get(pid, "")
        return int(name[4:]) if name.startswith("gpu/") and name[4:].isdigit() else CPU

    def flush(self) -> None:
        """Give the trace what was paired."""
        self._trace.add_rows(self._rows)
        self._rows.clear()

    def close(self) -> None:
        """Say what was passed over, and what had no end."""
        self._passed_over.tell(self._trace)
        judge_unpaired(self._trace, self._waiting.unpaired)


def _kind(name: str, device: int, sort: _Sort) -> EventKind:
    if sort is _Sort.RANGE:
        return EventKind.ANNOTATION
    return _call_kind(name) if sort is _Sort.API else _operator_kind(name, device)


def _call_kind(name: str) -> EventKind:
    return EventKind.WAIT if name.startswith(_WAITING) else EventKind.RUNTIME


def _operator_kind(name: str, device: int) -> EventKind:
    if name.startswith(_HOUSEKEEPING):
        return EventKind.RUNTIME
    if device == CPU:
        return EventKind.OPERATOR
    return EventKind.TRANSFER if name.startswith(_COPIES) else EventKind.KERNEL


READER = Reader("mxnet", "MXNet's profiler (JSON)", claims, read)
