"""Reads what rocprof and rocprofv3 write as CSV: kernels, copies, calls and markers, their sums, and counters.

Each sort of table is a file of its own; those of one run share a clock, and can be imported together.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.trace import Lane, OperatorSum, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.text_files import NS_AT_MOST, each_line, whole_in
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import EventKind

Cells = Mapping[str, str]
_AGENT = re.compile(r"(?:Agent )?([0-9]{1,4})$")
_WAITING = re.compile(r"ynchronize|_signal_wait")
_COPIES = re.compile(r"^(__amd_rocclr_(copyBuffer|fillBuffer)|Copy|Fill)")
_BATCH = 100_000


@dataclass(frozen=True)
class _Sort:
    """A sort of table.

    Attributes:
        columns: Columns that tell it.
        take: Takes a row.
    """

    columns: frozenset[str]
    take: Callable[[_Reading, Cells], None]


@dataclass
class _Counter:
    """The values of a counter."""

    count: int = 0
    total: float = 0.0
    least: float = math.inf
    most: float = -math.inf

    def take(self, value: float) -> None:
        """Take another value."""
        if not math.isfinite(value):
            raise ValueError(f"a counter of {value}")
        self.count += 1
        self.total += value
        self.least, self.most = min(self.least, value), max(self.most, value)


def claims(sample: Sample) -> bool:
    """Whether the first line is the header of a table of rocprof."""
    first = sample.text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    return _sort_of(first) is not None


def read(path: Path) -> FileContent:
    """The rows of a table.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _Reading(path)
    each_line(path, reading.line)
    return reading.finish()


class _Reading:
    """A table as its lines are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._trace = Trace(path, "rocprof-csv", "rocm", attribution="range", facts={"clock": "machine"})
        self._sort: _Sort | None = None
        self._titles: list[str] = []
        self._batch: list[EventRow] = []
        self._sums: list[OperatorSum] = []
        self._counters: dict[tuple[int, str, str], _Counter] = {}

    def line(self, text: str) -> None:
        """Take the next line."""
        if not text.strip():
            return
        cells = next(csv.reader([text], strict=True))
        if self._sort is None:
            self._sort, self._titles = _sort_of(text), cells
            if self._sort is None:
                raise ValueError("the header is not that of a table of rocprof")
        elif cells != self._titles:
            if len(cells) != len(self._titles):
                raise ValueError(f"{len(cells)} columns instead of {len(self._titles)}")
            self._sort.take(self, dict(zip(self._titles, cells, strict=True)))
            if len(self._batch) >= _BATCH:
                self._flush()

    def _flush(self) -> None:
        self._trace.add_rows(self._batch)
        self._batch.clear()

    def _add(self, kind: EventKind, name: str, times: tuple[str, str], lane: int, device: int, link: int) -> None:
        start, end = whole_in(times[0]), whole_in(times[1])
        if not start <= end <= NS_AT_MOST:
            raise ValueError(f"a time from {start} to {end}")
        number = self._trace.names.number(name)
        self._batch.append(EventRow(kind, number, start, end - start, lane, device, link))

    def kernel_v1(self, cells: Cells) -> None:
        """A row of rocprof's `results.csv`."""
        device, queue = _agent(cells["gpu-id"]), _whole(cells["queue-id"])
        name = cells["KernelName"].removesuffix(" [clone .kd]").removesuffix(".kd")
        kind = EventKind.TRANSFER if _COPIES.match(name) else EventKind.KERNEL
        self._add(kind, name, (cells["BeginNs"], cells["EndNs"]), self._queue(device, queue), device, NONE)

    def kernel(self, cells: Cells) -> None:
        """A row of rocprofv3's `kernel_trace.csv`."""
        device, queue = _agent(cells["Agent_Id"]), _whole(cells.get("Queue_Id", ""))
        name, lane = cells["Kernel_Name"].removesuffix(".kd"), self._queue(device, queue)
        kind = EventKind.TRANSFER if _COPIES.match(name) else EventKind.KERNEL
        times = cells["Start_Timestamp"], cells["End_Timestamp"]
        self._add(kind, name, times, lane, device, whole_in(cells["Correlation_Id"]) or NONE)

    def copy(self, cells: Cells) -> None:
        """A row of rocprofv3's `memory_copy_trace.csv`."""
        name = cells["Direction"].removeprefix("MEMORY_COPY_") or "copy"
        to_host = name.endswith(("TO_HOST", "DEVICE_TO_HOST"))
        device = _agent(cells["Source_Agent_Id" if to_host else "Destination_Agent_Id"])
        times = cells["Start_Timestamp"], cells["End_Timestamp"]
        self._add(EventKind.TRANSFER, name, times, self._queue(device, None), device, whole_in(cells["Correlation_Id"]))

    def call(self, cells: Cells) -> None:
        """A row of rocprofv3's traces of calls: HIP, HSA, RCCL and markers."""
        name, thread = cells["Function"], _whole(cells.get("Thread_Id", ""))
        kind = EventKind.WAIT if _WAITING.search(name) else EventKind.RUNTIME
        if cells["Domain"].startswith("MARKER"):
            kind = EventKind.ANNOTATION
        lane = self._trace.lane(("thread", thread), Lane(_whole(cells.get("Process_Id", "")), thread, f"{thread}"))
        times = cells["Start_Timestamp"], cells["End_Timestamp"]
        link = NONE if kind is EventKind.ANNOTATION else whole_in(cells["Correlation_Id"])
        self._add(kind, name, times, lane, CPU, link)

    def total(self, cells: Cells) -> None:
        """A row of a table of sums."""
        name = cells["Name"]
        is_call = re.match(r"(hip|hsa|roctx|nccl|rocdecode)[A-Z_]", name) is not None
        kind = EventKind.TRANSFER if _COPIES.match(name) else EventKind.KERNEL
        times = (round(float(cells[key])) if cells.get(key) else None for key in ("TotalDurationNs", "MinNs", "MaxNs"))
        whole, least, most = times
        if whole is None or not 0 <= whole <= NS_AT_MOST:
            raise ValueError(f"a time of {whole}")
        kind, device = (EventKind.RUNTIME, CPU) if is_call else (kind, 0)
        budget().name(name)
        self._sums.append(OperatorSum(kind, name, device, whole_in(cells["Calls"]), whole, least, most))

    def counter(self, cells: Cells) -> None:
        """A row of rocprofv3's `counter_collection.csv`."""
        key = _agent(cells["Agent_Id"]), cells["Kernel_Name"].removesuffix(".kd"), cells["Counter_Name"]
        if key not in self._counters:
            budget().name(key[1])
        self._counters.setdefault(key, _Counter()).take(float(cells["Counter_Value"]))

    def _queue(self, device: int, queue: int | None) -> int:
        name = "copies" if queue is None else f"queue {queue}"
        return self._trace.lane((device, queue), Lane(0, queue or 0, name, device))

    def finish(self) -> FileContent:
        """What was read."""
        self._flush()
        if self._counters:
            return self._of_counters()
        if not self._trace.size and not self._sums:
            raise ArtifactError("there are no rows in it", path=self._path)
        if not self._trace.size:
            self._trace.sums = self._sums
        return FileContent.of(self._trace)

    def _of_counters(self) -> FileContent:
        rows: list[dict[str, Any]] = [
            {
                "device": device, "kernel": kernel, "counter": counter, "count": found.count, "min_value": found.least,
                "max_value": found.most, "mean_value": found.total / found.count,
            }
            for (device, kernel, counter), found in self._counters.items()
        ]  # fmt: skip
        text = (
            f"{self._path.name} has {len(rows):,} counters, in the table kernel_counters, and no times are read of it."
        )
        health = [Health("counters-only", "info", text, len(rows))]
        table = pa.Table.from_pylist(rows, schema=TABLES["kernel_counters"])
        return FileContent("rocprof-csv", tables={"kernel_counters": table}, health=health)


_TIMES = ("Correlation_Id", "Start_Timestamp", "End_Timestamp")
_SORTS = (
    _Sort(frozenset(("KernelName", "gpu-id", "queue-id", "BeginNs", "EndNs")), _Reading.kernel_v1),
    _Sort(frozenset(("Agent_Id", "Kernel_Name", "Counter_Name", "Counter_Value")), _Reading.counter),
    _Sort(frozenset(("Agent_Id", "Kernel_Name", *_TIMES)), _Reading.kernel),
    _Sort(frozenset(("Direction", "Source_Agent_Id", "Destination_Agent_Id", *_TIMES)), _Reading.copy),
    _Sort(frozenset(("Domain", "Function", *_TIMES)), _Reading.call),
    _Sort(frozenset(("Name", "Calls", "TotalDurationNs")), _Reading.total),
)


def _sort_of(header: str) -> _Sort | None:
    try:
        titles = set(next(csv.reader([header.strip()]), ()))
    except csv.Error:
        return None
    return next((sort for sort in _SORTS if sort.columns <= titles), None)


def _agent(text: str) -> int:
    """The number of an agent: `Agent 4` or `4`."""
    match = _AGENT.match(text.strip())
    if not match:
        raise ValueError(f"{text[:40]!r} is not the number of a device")
    return int(match[1])


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else 0


READER = Reader("rocprof-csv", "rocprof and rocprofv3 (CSV)", claims, read)
