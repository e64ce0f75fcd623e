"""Reads RunMetadata of TensorFlow 1 (a protocol buffer): what each node of a graph did in a run of a session."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.chrome import Args, Event
from dlprof.ingest.parse.packed import mapped
from dlprof.ingest.parse.protowire import Span, WireError, fields, signed
from dlprof.ingest.parse.tf1_rows import Tf1Rows

_HEAD = re.compile(rb"\n[\x00-\xff]{1,5}?\n[\x00-\xff]{1,5}?\n[\x00-\xff](/job:|/device:|/host:)", re.DOTALL)
_STEP_STATS = 1
_DEVICES, _DEVICE_NAME, _NODES = 1, 1, 2
_NAME, _LABEL = 1, 8
_START_US, _END_US, _START_NS, _END_NS = 2, 5, 13, 16
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
    rows: dict[int, str] = {}
    try:
        with mapped(path) as data:
            nodes = _in_lanes(_events(data, rows))
    except WireError as error:
        raise ArtifactError(str(error), path=path, offset=error.offset) from error
    if nodes:
        trace.zero_ns = min(node.start_ns for node in nodes)
        trace.add_rows(Tf1Rows(trace, rows).events([node.event(trace.zero_ns) for node in nodes]))
    return FileContent.of(trace)


@dataclass(frozen=True)
class _Node:
    """One execution of a node; times in ns since 1970."""

    row: int
    name: str
    op: str
    start_ns: int
    dur_ns: int
    lane: int = 0

    def event(self, zero_ns: int) -> Event:
        """As the timeline would show it."""
        ts, dur = (self.start_ns - zero_ns) / 1e3, self.dur_ns / 1e3
        return Event("X", self.op, "Op", ts, dur, self.row, self.lane, None, Args(name=self.name))


def _in_lanes(nodes: Iterator[_Node]) -> list[_Node]:
    """The executions in order of time, each in the lane of its device that has been free longest.

    TensorFlow 1 does not tell the threads: those of one device would overlap.
    """
    free: dict[int, list[tuple[int, int]]] = {}
    placed = []
    for node in sorted(nodes, key=lambda n: (n.start_ns, n.dur_ns)):
        lanes = free.setdefault(node.row, [])
        end = node.start_ns + node.dur_ns
        if lanes and lanes[0][0] <= node.start_ns:
            lane = heapq.heapreplace(lanes, (end, lanes[0][1]))[1]
        else:
            lane = len(lanes)
            heapq.heappush(lanes, (end, lane))
        placed.append(replace(node, lane=lane))
    return placed


def _events(data: Any, rows: dict[int, str]) -> Iterator[_Node]:
    """All executions; `rows` gets the names of the devices, as the timeline writes them."""
    numbers: dict[str, int] = {}
    for number, place in fields(data, 0, len(data)):
        if number == _STEP_STATS and isinstance(place, tuple):
            for inner, device in fields(data, *place):
                if inner == _DEVICES and isinstance(device, tuple):
                    yield from _device(data, device, numbers, rows)


def _device(data: Any, place: Span, numbers: dict[str, int], rows: dict[int, str]) -> Iterator[_Node]:
    parts = list(fields(data, *place))
    name = next((_text(data, value) for number, value in parts if number == _DEVICE_NAME), "")
    row = numbers.setdefault(name, len(numbers))
    rows[row] = f"{name} Compute"
    for number, value in parts:
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
