"""How long each device was busy, with what, and how long it was idle: as HTA's temporal breakdown has it.

Busy is the union over all streams of a device: what runs at the same time counts once. Kernels that compute,
collectives and copies may run at the same time, so their times need not sum to the busy time; `compute_ns`,
`non_compute_ns` and `idle_ns` do sum to the span.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import Category, EventKind
from dlprof.store.run import Run

_ON_DEVICE = (EventKind.KERNEL.word, EventKind.TRANSFER.word)
_PLACE = ("host", "rank", "pid", "device", "window")


class SpanOf(StrEnum):
    """What the span of a device's times is."""

    EVENTS = "first to last event"
    """From the beginning of its first kernel or copy to the end of its last: whole foreign traces."""
    WINDOWS = "kernel windows"
    """The kernel windows of a run's loops, of which the device is idle before its first kernel as well."""


@dataclass(frozen=True)
class StreamTime:
    """A stream of a device.

    Attributes:
        stream: Its name.
        events: Kernels and copies that ran on it.
        busy_ns: Time in which one of them ran (ns).
    """

    stream: str
    events: int
    busy_ns: int


@dataclass(frozen=True)
class DeviceTime:
    """A device of one process over all traced stretches; times in ns.

    Attributes:
        device: Its name, such as `gpu:0`.
        number: Its number, as the tables have it.
        host: The machine it is in; None: not known.
        rank: The rank of the process that used it; None: not known.
        span_ns: What the other times are of: `span_of` says it.
        busy_ns: Time in which at least one kernel or copy ran on it.
        idle_ns: The rest of the span.
        compute_ns: Time in which at least one kernel ran that is no collective.
        non_compute_ns: Busy time without one: collectives and copies that nothing hides.
        communication_ns: Time in which at least one collective ran.
        communication_overlapped_ns: Of that, while a kernel computed.
        memory_ns: Time in which at least one copy or memset ran.
        events: Kernels and copies.
        events_ns: Sum of their durations: what overlaps counts several times.
        span_of: What the span is.
        streams: Its streams, the busiest first.
        pid: Number of the process that used it; None: the only one of its rank that used devices.
    """

    device: str
    number: int
    host: str | None
    rank: int | None
    span_ns: int
    busy_ns: int
    idle_ns: int
    compute_ns: int
    non_compute_ns: int
    communication_ns: int
    communication_overlapped_ns: int
    memory_ns: int
    events: int
    events_ns: int
    span_of: SpanOf
    streams: Sequence[StreamTime]
    pid: int | None = None


def of_run(run: Run) -> list[DeviceTime]:
    """Every device that ran something, by host, rank, process and number; none where no device was traced."""
    table = run.table("kernel_events", (*_PLACE, "op_id", "lane", "start_ns", "dur_ns"))
    table = table.filter(pc.greater_equal(table["device"], 0))
    if not table.num_rows:
        return []
    events = _Events(run, table)
    windows = {row["window"]: row for row in run.rows("kernel_windows") if row["loop"] is not None}
    found = [
        _of_device(
            place,
            run.manifest.device_name(place.device),
            [_Part(events, rows, windows.get(window)) for window, rows in parts],
        )
        for place, parts in events.by_place()
    ]
    order = sorted(
        found,
        key=lambda time: (time.host or "", -1 if time.rank is None else time.rank, time.pid or 0, time.number),
    )
    whose = {(time.host, time.rank, time.pid) for time in order}
    alone = Counter((host, rank) for host, rank, _ in whose)
    return [replace(time, pid=None) if alone[time.host, time.rank] == 1 else time for time in order]


@dataclass(frozen=True)
class _Place:
    host: str | None
    rank: int | None
    pid: int | None
    device: int


class _Events:
    """Kernels and copies on devices, by column."""

    def __init__(self, run: Run, table: pa.Table) -> None:
        kinds, collective = _by_op(run)
        op = integers(table["op_id"])
        keep = np.isin(kinds[op], [_ON_DEVICE.index(kind) for kind in _ON_DEVICE])
        if not keep.all():
            table, op = table.filter(pa.array(keep)), op[keep]
        self._table = table
        self.start = integers(table["start_ns"])
        self.end = self.start + integers(table["dur_ns"])
        self.copies: Truths = kinds[op] == _ON_DEVICE.index(EventKind.TRANSFER.word)
        self.collectives: Truths = collective[op] & ~self.copies
        self.lane, self.lanes = _coded(table["lane"])

    def by_place(self) -> Iterator[tuple[_Place, list[tuple[int, Integers]]]]:
        """Every device, with its rows by window."""
        places: dict[_Place, list[tuple[int, Integers]]] = {}
        for (host, rank, pid, device, window), rows in self._groups():
            places.setdefault(_Place(host, rank, pid, device), []).append((window, rows))
        return iter(places.items())

    def _groups(self) -> Iterator[tuple[list[Any], Integers]]:
        columns = [_coded(self._table[name]) for name in _PLACE]
        code = np.zeros(len(self.start), np.int64)
        for codes, values in columns:
            code = code * len(values) + codes
        order = np.argsort(code, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1) if len(order) else ():
            yield [values[int(codes[rows[0]])] for codes, values in columns], rows


def _by_op(run: Run) -> tuple[Integers, Truths]:
    """For each number of an operator its place in `_ON_DEVICE` (-1: none), and whether it is a collective."""
    ops = run.rows("kernel_ops")
    size = max((op["op_id"] for op in ops), default=-1) + 1
    kinds, collective = np.full(size, -1), np.zeros(size, bool)
    for op in ops:
        kinds[op["op_id"]] = _ON_DEVICE.index(op["kind"]) if op["kind"] in _ON_DEVICE else -1
        collective[op["op_id"]] = op["category"] == Category.COLLECTIVE
    return kinds, collective


class _Part:
    """What ran on a device in one traced stretch."""

    def __init__(self, events: _Events, rows: Integers, window: dict[str, int] | None) -> None:
        self._events = events
        self.rows = rows
        self.span_of = SpanOf.EVENTS if window is None else SpanOf.WINDOWS
        self.begin, self.end = int(events.start[rows].min()), int(events.end[rows].max())
        if window is not None:
            self.begin, self.end = window["start_ns"], window["start_ns"] + window["dur_ns"]

    def _covered(self, chosen: Truths | None = None) -> Stretches:
        rows = self.rows if chosen is None else self.rows[chosen[self.rows]]
        covered = Stretches.covered(self._events.start[rows], self._events.end[rows])
        return covered.within(self.begin, self.end)

    @property
    def span_ns(self) -> int:
        return self.end - self.begin

    @cached_property
    def busy_ns(self) -> int:
        return self._covered().ns

    @cached_property
    def compute(self) -> Stretches:
        return self._covered(~(self._events.copies | self._events.collectives))

    @cached_property
    def communication(self) -> Stretches:
        return self._covered(self._events.collectives)

    @property
    def memory_ns(self) -> int:
        return self._covered(self._events.copies).ns

    @property
    def events_ns(self) -> int:
        return int((self._events.end[self.rows] - self._events.start[self.rows]).sum())

    def streams(self) -> Iterator[StreamTime]:
        lane = self._events.lane[self.rows]
        order = np.argsort(lane, kind="stable")
        for rows in np.split(self.rows[order], np.flatnonzero(np.diff(lane[order])) + 1):
            covered = Stretches.covered(self._events.start[rows], self._events.end[rows])
            name = self._events.lanes[int(self._events.lane[rows[0]])]
            yield StreamTime(str(name or "?"), len(rows), covered.within(self.begin, self.end).ns)


def _of_device(place: _Place, name: str, parts: Sequence[_Part]) -> DeviceTime:
    span, busy = sum(part.span_ns for part in parts), sum(part.busy_ns for part in parts)
    compute = sum(part.compute.ns for part in parts)
    return DeviceTime(
        device=name,
        number=place.device,
        host=place.host,
        rank=place.rank,
        span_ns=span,
        busy_ns=busy,
        idle_ns=span - busy,
        compute_ns=compute,
        non_compute_ns=busy - compute,
        communication_ns=sum(part.communication.ns for part in parts),
        communication_overlapped_ns=sum(part.communication.shared_ns(part.compute) for part in parts),
        memory_ns=sum(part.memory_ns for part in parts),
        events=sum(len(part.rows) for part in parts),
        events_ns=sum(part.events_ns for part in parts),
        span_of=min((part.span_of for part in parts), key=list(SpanOf).index),
        streams=_streams(parts),
        pid=place.pid,
    )


def _streams(parts: Sequence[_Part]) -> tuple[StreamTime, ...]:
    sums: dict[str, StreamTime] = {}
    for part in parts:
        for found in part.streams():
            known = sums.get(found.stream, StreamTime(found.stream, 0, 0))
            sums[found.stream] = StreamTime(found.stream, known.events + found.events, known.busy_ns + found.busy_ns)
    return tuple(sorted(sums.values(), key=lambda stream: -stream.busy_ns))


def _coded(column: pa.ChunkedArray) -> tuple[Integers, list[Any]]:
    """Which of the distinct values of a column each row has, and these values."""
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column, null_encoding="encode")
    encoded = column.unify_dictionaries().combine_chunks()
    values = encoded.dictionary.to_pylist()
    codes = pc.fill_null(encoded.indices, len(values)).to_numpy(zero_copy_only=False)
    return np.asarray(codes, np.int64), [*values, None]
