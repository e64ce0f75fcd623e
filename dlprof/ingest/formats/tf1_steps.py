"""Reads RunMetadata of TensorFlow 1 (a protocol buffer): what each node of a graph did in a run of a session."""

from __future__ import annotations

import heapq
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dlprof.ingest.artifact import ArtifactError, merged
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import Integers
from dlprof.ingest.kernels.numbered import Bounded
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import Args, Event
from dlprof.ingest.parse.packed import mapped
from dlprof.ingest.parse.protowire import Span, WireError, fields, signed
from dlprof.ingest.parse.text_files import NS_AT_MOST
from dlprof.ingest.parse.tf1_rows import Tf1Rows

_HEAD = re.compile(rb"\n[\x00-\xff]{1,5}?\n[\x00-\xff]{1,5}?\n[\x00-\xff](/job:|/device:|/host:)", re.DOTALL)
_STEP_STATS = 1
_DEVICES, _DEVICE_NAME, _NODES = 1, 1, 2
_NAME, _LABEL = 1, 8
_START_US, _END_US, _START_NS, _END_NS = 2, 5, 13, 16
_BATCH = 50_000
_NODE_BYTES = 80
"""A node in its columns (bytes)."""
_TYPE = re.compile(r"^.*? = ([^(]+)\(", re.DOTALL)


def claims(sample: Sample) -> bool:
    """Whether a file begins like a RunMetadata: step statistics, in them a device, in it its name."""
    return _HEAD.match(sample.head) is not None


def read(path: Path) -> FileContent:
    """The operators and kernels of one or more runs of sessions.

    Raises:
        ArtifactError: The file is damaged.
    """
    trace = Trace(path, "tf1-steps", "tensorflow", attribution="path", zero_ns=0)
    names: dict[int, str] = {}
    nodes = _Nodes()
    try:
        with mapped(path) as data:
            for node in _events(data, names):
                nodes.add(node)
    except WireError as error:
        raise ArtifactError(str(error), path=path, offset=error.offset) from error
    text = f"{nodes.impossible} nodes of {path.name} have impossible times and were passed over."
    trace.drop("trace-malformed", "warning", text, nodes.impossible)
    nodes.place()
    if nodes.size:
        trace.zero_ns = nodes.first_ns
        rows = Tf1Rows(trace, names)
        for events in nodes.events():
            rows.look(events)
        for events in nodes.events():
            trace.add_rows(rows.take(events))
        trace.skipped = merged(trace.skipped)
    return FileContent.of(trace)


class _Node(NamedTuple):
    """One execution of a node; times in ns since 1970."""

    row: int
    name: str
    op: str
    start_ns: int
    dur_ns: int


class _Nodes:
    """The executions of a file by columns, because there may be millions.

    Attributes:
        impossible: Executions at times that no clock gives; they are in no column.
    """

    def __init__(self) -> None:
        self.impossible = 0
        self._texts: Bounded[str] = Bounded()
        self._columns = {name: array("q") for name in _Node._fields}
        self._order: Integers = np.empty(0, np.int64)
        self._lanes: Integers = np.empty(0, np.int64)

    @property
    def size(self) -> int:
        """Number of executions."""
        return len(self._columns["row"])

    @property
    def first_ns(self) -> int:
        """Start of the first one (ns since 1970), of one or more."""
        return int(self._columns["start_ns"][int(self._order[0])])

    def add(self, node: _Node) -> None:
        """Add an execution."""
        if not 0 <= node.start_ns <= NS_AT_MOST or node.dur_ns > NS_AT_MOST:
            self.impossible += 1
            return
        budget().hold(_NODE_BYTES, "nodes")
        number = self._texts.number
        told = (node.row, number(node.name), number(node.op), node.start_ns, node.dur_ns)
        for column, value in zip(self._columns.values(), told, strict=True):
            column.append(value)

    def _column(self, name: str) -> Integers:
        return np.frombuffer(self._columns[name], np.int64)

    def place(self) -> None:
        """Bring the executions into order of time, each in the lane of its device that has been free longest.

        TensorFlow 1 does not tell the threads: those of one device would overlap.
        """
        start, dur, row = (self._column(name) for name in ("start_ns", "dur_ns", "row"))
        self._order = np.lexsort((dur, start)).astype(np.int64)
        self._lanes = np.empty(len(start), np.int64)
        free: dict[int, list[tuple[int, int]]] = {}
        for place in range(0, len(start), _BATCH):
            at = self._order[place : place + _BATCH]
            found = zip(row[at].tolist(), start[at].tolist(), dur[at].tolist(), strict=True)
            self._lanes[at] = [
                _free_lane(free.setdefault(device, []), begin, begin + long) for device, begin, long in found
            ]

    def events(self) -> Iterator[list[Event]]:
        """The executions as the timeline would show them, some at a time."""
        texts, zero = self._texts.values, self.first_ns
        columns = [self._column(name) for name in _Node._fields]
        for place in range(0, self.size, _BATCH):
            at = self._order[place : place + _BATCH]
            found = zip(*(column[at].tolist() for column in columns), self._lanes[at].tolist(), strict=True)
            yield [
                Event("X", texts[op], "Op", (start - zero) / 1e3, dur / 1e3, row, lane, None, Args(name=texts[name]))
                for row, name, op, start, dur, lane in found
            ]


def _free_lane(lanes: list[tuple[int, int]], start: int, end: int) -> int:
    """The lane of a device that has been free longest, as a heap of (end, lane); a new one if none is free."""
    if lanes and lanes[0][0] <= start:
        return heapq.heapreplace(lanes, (end, lanes[0][1]))[1]
    budget().lane()
    heapq.heappush(lanes, (end, len(lanes)))
    return len(lanes) - 1


def _events(data: Any, rows: dict[int, str]) -> Iterator[_Node]:
    """All executions; `rows` gets the names of the devices, as the timeline writes them."""
    numbers: dict[str, int] = {}
    for number, place in fields(data, 0, len(data)):
        if number == _STEP_STATS and isinstance(place, tuple):
            for inner, device in fields(data, *place):
                if inner == _DEVICES and isinstance(device, tuple):
                    yield from _device(data, device, numbers, rows)


def _device(data: Any, place: Span, numbers: dict[str, int], rows: dict[int, str]) -> Iterator[_Node]:
    name = next((_text(data, value) for number, value in fields(data, *place) if number == _DEVICE_NAME), "")
    row = numbers.setdefault(name, len(numbers))
    rows[row] = f"{name} Compute"
    budget().lane()
    for number, value in fields(data, *place):
        if number == _NODES and isinstance(value, tuple):
            yield _node(data, value, row)


def _node(data: Any, place: Span, row: int) -> _Node:
    parts: dict[int, Any] = dict(fields(data, *place))
    start = _number(parts, _START_NS) or _number(parts, _START_US) * 1000
    dur = _number(parts, _END_NS) or _number(parts, _END_US) * 1000
    name, label = _text(data, parts.get(_NAME)), _text(data, parts.get(_LABEL))
    typed = _TYPE.match(label)
    # Kernels of GPUs have a label of their own, and are called `NODE:TYPE`.
    op = typed[1] if typed else name.rpartition(":")[2] or name
    return _Node(row, name.rpartition(":")[0] or name, op, start, max(0, dur))


def _number(parts: dict[int, Any], key: int) -> int:
    value = parts.get(key, 0)
    return signed(value) if isinstance(value, int) else 0


def _text(data: Any, place: Any) -> str:
    return bytes(data[slice(*place)]).decode("utf-8", "replace") if isinstance(place, tuple) else ""


READER = Reader("tf1-steps", "RunMetadata of TensorFlow 1 (protobuf)", claims, read)
