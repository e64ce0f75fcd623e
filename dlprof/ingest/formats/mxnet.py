"""Reads traces of MXNet's profiler."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import Health
from dlprof.ingest.kernels.trace import CPU, NONE, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns

_HOUSEKEEPING = ("Delete", "WaitForVar", "SetupExec", "Resource", "SetValueOp_clean")
_WAITING = ("MXNDArraySyncCopyToCPU", "MXNDArrayWaitAll", "MXNDArrayWaitToRead", "MXNDArraySyncCopyFromCPU")
_COPIES = "Copy"


def claims(_top: dict[str, Any], events: list[Event]) -> bool:
    """Whether a file in the Chrome format, of which these are the first events, is one of MXNet's."""
    devices = {str(e.args.name) for e in events if e.ph == "M" and e.args is not None and e.args.name is not None}
    if {"cpu pinned/", "cpu shared/"} & devices:
        return True
    return any(event.cat == "MXNET_C_API" for event in events)


def read(path: Path) -> Foreign:
    """The operators of a trace of MXNet, and the calls of its C API that wait for them.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "mxnet", "mxnet", zero_ns=0)
    work = _Work(trace)
    for events in source.pieces():
        work.add(events)
    work.close()
    source.judge(trace)
    return Foreign("mxnet", trace, facts=trace.facts, health=trace.health)


class _Work:
    """Pairs begins and ends; the file is not in order of time."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.devices: dict[Any, str] = {}
        self._open: dict[Any, list[tuple[float, bool]]] = {}
        self._rows: list[tuple[int, int, int, int, int, int, int]] = []
        self.unpaired = 0

    def add(self, events: list[Event]) -> None:
        """Add one piece."""
        for event in events:
            if event.ph in ("B", "E") and event.cat == "operator":
                self._edge(("op", event.pid, event.tid, event.name), event, event.ph == "B")
            elif event.ph in ("b", "e") and event.cat == "MXNET_C_API":
                self._edge(("api", event.pid, event.id, event.name), event, event.ph == "b")
            elif event.ph == "X" and event.cat != "dlprof":
                self._row(event, event.ts, event.ts + max(0.0, event.dur), "op")
            elif event.ph == "M" and event.name == "process_name" and event.args is not None:
                self.devices[event.pid] = str(event.args.name)

    def _edge(self, key: tuple[Any, ...], event: Event, begins: bool) -> None:
        waiting = self._open.setdefault(key, [])
        if waiting and waiting[-1][1] != begins:
            other, _ = waiting.pop()
            low, high = (other, event.ts) if other <= event.ts else (event.ts, other)
            self._row(event, low, high, key[0])
        else:
            waiting.append((event.ts, begins))

    def _row(self, event: Event, start: float, end: float, what: str) -> None:
        name = str(event.name)
        kind = Kind.OPERATOR
        if what == "api":
            kind = Kind.WAIT if name.startswith(_WAITING) else Kind.RUNTIME
        elif name.startswith(_HOUSEKEEPING):
            kind = Kind.RUNTIME
        device = self._device(event.pid) if what == "op" else CPU
        if kind is Kind.OPERATOR and device != CPU:
            kind = Kind.TRANSFER if name.startswith(_COPIES) else Kind.KERNEL
        tid = event.tid if isinstance(event.tid, int) else zlib.crc32(str(event.tid).encode())
        lane_name = "C API" if what == "api" else f"engine {tid % 2**32:08x}"
        lane = self.trace.lane((what, event.pid, event.tid), Lane(0, tid % 2**62, lane_name, device))
        self._rows.append(
            (kind, self.trace.names.number(name), as_ns(start), as_ns(end) - as_ns(start), device, lane, NONE)
        )

    def _device(self, pid: Any) -> int:
        name = self.devices.get(pid, "")
        return int(name[4:]) if name.startswith("gpu/") and name[4:].isdigit() else CPU

    def close(self) -> None:
        """Give the events to the trace, and say what had no end."""
        names = ("kind", "name", "start", "dur", "device", "lane", "link")
        if self._rows:
            self.trace.add(**dict(zip(names, zip(*self._rows, strict=True), strict=True)))
        self.unpaired = sum(len(waiting) for waiting in self._open.values())
        if self.unpaired:
            text = f"{self.unpaired} events of {self.trace.path.name} have a begin without an end, or the other way."
            self.trace.health.append(Health("trace-unpaired", "info", text, self.unpaired))
            self.trace.dropped += self.unpaired
