"""Reads the timelines of TensorFlow 1 (`timeline.Timeline` of RunMetadata): Chrome JSON with a row per device."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dlprof.ingest.kernels.trace import CPU, Foreign, Kind, Lane, Trace
from dlprof.ingest.parse.chrome import ChromeFile, Event, as_ns

_ROW = re.compile(r"/device:(CPU|GPU):(\d+)(?:/(stream:(\d+|all)|memcpy))? Compute$")
_HOST = "/host:CPU Compute"


def claims(_top: dict[str, Any], events: list[Event]) -> bool:
    """Whether a file in the Chrome format, of which these are the first events, is a timeline of TensorFlow 1."""
    names = [str(e.args.name) for e in events if e.ph == "M" and e.name == "process_name" and e.args is not None]
    return any(name == "Allocators" or _ROW.search(name) or name == _HOST for name in names)


def read(path: Path) -> Foreign:
    """The operators and kernels of a timeline.

    A kernel is shown up to three times: in the row of its stream, in `stream:all`, and in that of the
    device which launched it; a copy in that of its stream and in `memcpy`. Each is taken once: from
    its stream, as a copy if `memcpy` has it too. `/host:CPU` repeats the operators of the device rows.

    Raises:
        ArtifactError: The file is damaged.
    """
    source = ChromeFile(path)
    trace = Trace(path, "tf1-timeline", "tensorflow", zero_ns=0)
    rows: dict[Any, str] = {}
    events: list[Event] = []
    for piece in source.pieces():
        for event in piece:
            if event.ph == "M" and event.name == "process_name" and event.args is not None:
                rows[event.pid] = str(event.args.name)
            elif event.ph == "X":
                events.append(event)
    add_rows(trace, rows, events)
    source.judge(trace)
    return Foreign("tf1-timeline", trace, facts=trace.facts, health=trace.health)


def add_rows(trace: Trace, rows: dict[Any, str], events: list[Event]) -> None:
    """Give the events of a timeline to a trace, each once.

    Args:
        trace: Takes them.
        rows: Names of the rows, by the process number of their events.
        events: Events of phase X.
    """
    _Work(trace, rows).add(events)


class _Work:
    def __init__(self, trace: Trace, rows: dict[Any, str]) -> None:
        self._trace = trace
        self._rows = {pid: _ROW.search(name) for pid, name in rows.items()}
        self._names = rows
        streams = [m for m in self._rows.values() if m and m[3]]
        self._has_streams = any(m[4] and m[4] != "all" for m in streams)
        self._has_devices = any(m and not m[3] for m in self._rows.values())

    def add(self, events: list[Event]) -> None:
        """Give the events that are to be taken to the trace."""
        copies = {_identity(e) for e in events if self._part(e) == "memcpy"}
        everything = {_identity(e) for e in events if self._part(e) == "stream:all"}
        found: dict[str, list[int]] = {name: [] for name in ("kind", "name", "start", "dur", "device", "lane", "scope")}
        for event in events:
            kind = self._kind(event, copies, everything)
            if kind is None:
                continue
            row = self._rows.get(event.pid)
            on_device = kind in (Kind.KERNEL, Kind.TRANSFER)
            device = int(row[2]) if row and on_device else CPU
            name = str(event.name)
            node = str(event.args.name) if event.args is not None and event.args.name is not None else ""
            key = (event.pid, event.tid)
            lane_name = (row[3] or f"{row[1]}:{row[2]}") if row else self._names.get(event.pid, "")
            found["kind"].append(kind)
            found["name"].append(self._trace.names.number(name))
            found["start"].append(as_ns(event.ts))
            found["dur"].append(max(0, as_ns(event.dur)))
            found["device"].append(device)
            found["lane"].append(self._trace.lane(key, Lane(0, _as_int(event.tid), lane_name, device)))
            found["scope"].append(self._trace.scopes.number(f"{node}:{name}"))
        self._trace.add(**found)

    def _part(self, event: Event) -> str | None:
        row = self._rows.get(event.pid)
        return row[3] if row else None

    def _kind(self, event: Event, copies: set[Any], everything: set[Any]) -> Kind | None:
        row = self._rows.get(event.pid)
        if row is None:
            is_host = self._names.get(event.pid) == _HOST and not self._has_devices
            return Kind.OPERATOR if is_host else None
        if row[3] == "memcpy" or (row[3] == "stream:all" and self._has_streams):
            return None
        if row[3] is None:
            # On a GPU's own row are the calls that launch: work of the host.
            return Kind.OPERATOR if row[1] == "CPU" else Kind.RUNTIME
        copied = _identity(event) in copies and _identity(event) not in everything
        return Kind.TRANSFER if copied or str(event.name).startswith("MEMCPY") else Kind.KERNEL


def _identity(event: Event) -> tuple[float, float, Any]:
    return event.ts, event.dur, event.args.name if event.args is not None else event.name


def _as_int(value: Any) -> int:
    return value if isinstance(value, int) else 0
