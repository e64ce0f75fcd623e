"""The rows of TensorFlow 1's timeline: one per device and part of it, which tell most executions several times.

A kernel is shown up to three times: in the row of its stream, in `stream:all`, and in that of the device which
launched it; a copy in that of its stream and in `memcpy`. Each is taken once: from its stream, as a copy if `memcpy`
has it too. `/host:CPU` repeats the operators of the device rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dlprof.ingest.kernels.events import CPU, EventRow
from dlprof.ingest.kernels.scopes import NodePath
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import Event, as_ns
from dlprof.schema.vocabulary import EventKind

_ROW = re.compile(r"/device:(?P<type>CPU|GPU):(?P<number>\d+)(?:/(?P<part>stream:(?:\d+|all)|memcpy))? Compute$")
_HOST = "/host:CPU Compute"
_ALLOCATORS = "Allocators"
_ALL = "stream:all"
_MEMCPY = "memcpy"
_EXECUTION_BYTES = 300
_NEXT_BATCH = re.compile(r"^(IteratorGetNext|QueueDequeue)")
"""Operators that wait for a data set, or a queue, to have the next batch: they compute nothing."""


def is_row(name: str) -> bool:
    """Whether a process of a trace is called as a row of a timeline."""
    return name in (_ALLOCATORS, _HOST) or _ROW.search(name) is not None


class _Row(NamedTuple):
    device_type: str
    number: int
    part: str | None
    """`stream:7`, `stream:all`, `memcpy`; None: the device itself."""

    @property
    def lane_name(self) -> str:
        return self.part or f"{self.device_type}:{self.number}"


class _Execution(NamedTuple):
    """What rows that tell the same execution have in common."""

    ts: float
    dur: float
    name: Any


class Tf1Rows:
    """Takes each execution from one row.

    Args:
        trace: Numbers names, scopes and lanes.
        names: Names of the rows, by the process number of their events.
    """

    def __init__(self, trace: Trace, names: Mapping[Any, str]) -> None:
        self._trace = trace
        self._names = names
        self._rows = {pid: row for pid, name in names.items() if (row := _parsed(name)) is not None}
        parts = [row.part for row in self._rows.values()]
        self._has_streams = any(part not in (None, _ALL, _MEMCPY) for part in parts)
        self._has_devices = None in parts
        self._copies: set[_Execution] = set()
        self._in_streams: set[_Execution] = set()

    def events(self, told: Sequence[Event]) -> list[EventRow]:
        """The executions that events of phase X tell, each once."""
        self.look(told)
        return self.take(told)

    def look(self, told: Iterable[Event]) -> None:
        """See what rows that repeat others tell: of all events, before the first is taken."""
        for event in told:
            part = self._part(event)
            if part in (_MEMCPY, _ALL):
                budget().hold(_EXECUTION_BYTES, "copies")
                (self._copies if part == _MEMCPY else self._in_streams).add(_execution(event))

    def take(self, told: Sequence[Event]) -> list[EventRow]:
        """The executions that some of the events tell and no others do."""
        kinds = ((event, self._kind(event)) for event in told)
        rows = [self._event(event, kind) for event, kind in kinds if kind is not None]
        self._trace.skip("events of further rows", len(told) - len(rows), "others tell the same executions")
        return rows

    def _part(self, event: Event) -> str | None:
        row = self._rows.get(event.pid)
        return row.part if row else None

    def _kind(self, event: Event) -> EventKind | None:
        """What an event is; None: others tell it."""
        row = self._rows.get(event.pid)
        if row is None:
            return _of_host(event) if self._names.get(event.pid) == _HOST and not self._has_devices else None
        if row.part == _MEMCPY or (row.part == _ALL and self._has_streams):
            return None
        if row.part is None:
            # On a GPU's own row are the calls that launch: work of the host.
            return _of_host(event) if row.device_type == "CPU" else EventKind.RUNTIME
        execution = _execution(event)
        is_copy = execution in self._copies and execution not in self._in_streams
        copied = is_copy or str(event.name).startswith("MEMCPY")
        return EventKind.TRANSFER if copied else EventKind.KERNEL

    def _event(self, event: Event, kind: EventKind) -> EventRow:
        row = self._rows.get(event.pid)
        on_device = kind in (EventKind.KERNEL, EventKind.TRANSFER)
        device = row.number if row and on_device else CPU
        name = str(event.name)
        node = str(event.args.name) if event.args is not None and event.args.name is not None else ""
        lane_name = row.lane_name if row else self._names.get(event.pid, "")
        thread = event.tid if isinstance(event.tid, int) else 0
        return EventRow(
            kind,
            self._trace.names.number(name),
            as_ns(event.ts),
            max(0, as_ns(event.dur)),
            self._trace.lane((event.pid, event.tid), Lane(0, thread, lane_name, device)),
            device,
            scope=self._trace.scopes.number(NodePath(f"{node}:{name}")),
        )


def _of_host(event: Event) -> EventKind:
    return EventKind.INPUT if _NEXT_BATCH.match(str(event.name)) else EventKind.OPERATOR


def _parsed(name: str) -> _Row | None:
    match = _ROW.search(name)
    return _Row(match["type"], int(match["number"]), match["part"]) if match else None


def _execution(event: Event) -> _Execution:
    return _Execution(event.ts, event.dur, event.args.name if event.args is not None else event.name)
