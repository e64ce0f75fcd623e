"""Reads what nvprof prints: the GPU trace as CSV, and the summary as CSV or as plain text.

The main table alone is read: the sections of NVTX ranges repeat the same kernels, range by range.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.scopes import BytesMoved
from dlprof.ingest.kernels.trace import Lane, OperatorSum, Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.text_files import as_ns, each_line, number_in, whole_in
from dlprof.schema.vocabulary import EventKind

NS_PER_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_BYTES_PER_UNIT = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_BATCH = 100_000
_GPU = "GPU activities"
_SECTIONS = {"Profiling result": _GPU, "API calls": "API calls"}
"""Headings of main tables, and what their rows are where the rows do not say it (before CUDA 9)."""
_HEADING = re.compile(r"={2,}[0-9]*={2,}\s+(.*)")
_TEXT_HEADER = re.compile(r"[ \t]*(?:Type +)?Time\(%\) +Time +Calls +Avg +Min +Max +Name[ \t\r]*$")
_CSV_HEADER = re.compile(r'"?Start"?,"?Duration"?,|(?:"?Type"?,)?"?Time\(%\)"?,"?Time"?,')
_ANY_HEADER = re.compile(rf"^(?:{_TEXT_HEADER.pattern}|{_CSV_HEADER.pattern})", re.MULTILINE)
_TEXT_ROW = re.compile(
    r"(?:([A-Za-z][A-Za-z ()]{0,40}):\s+)?[0-9.]+%\s+(\S+)\s+([0-9]+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S.*)"
)
_TIME = re.compile(r"([0-9.]+)(ns|us|ms|s)")
_LAST_NUMBER = re.compile(r"([0-9]{1,9})\)?\s*$")
_DEVICE = re.compile(r"(.*) \(([0-9]{1,4})\)$")
_CORRELATION = re.compile(r"(.*\S) \[([0-9]{1,18})\]$")
_COUNTER = re.compile(r"\s+[0-9]+\s+[a-z]\w+\s+\S")
_COPIES = ("[CUDA memcpy", "[CUDA memset", "[Unified Memory Memcpy")


def claims(sample: Sample) -> bool:
    """Whether the file is a GPU trace or a summary that nvprof printed."""
    return bool(_ANY_HEADER.search(sample.text))


def read(path: Path) -> FileContent:
    """The kernels, copies and API calls of the main table.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _Reading(path)
    each_line(path, reading.line)
    return reading.finish()


class _Reading:
    """A file as its lines are read: which section they are in, and how its rows are taken."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._trace = Trace(path, "nvprof-csv", "cuda", attribution="range")
        self._section: str | None = _GPU
        self._type = _GPU
        self._take: Callable[[str], None] | None = None
        self._columns: dict[str, int] = {}
        self._units: list[str] = []
        self._sums: list[OperatorSum] = []
        self._devices: dict[int, str] = {}
        self._batch: list[EventRow] = []
        self._counts = dict.fromkeys(EventKind, 0)
        self._rounded = False
        self._uncounted = self._of_ranges = self._counters = 0

    def line(self, text: str) -> None:
        """Take the next line."""
        heading = _HEADING.match(text)
        if heading:
            self._heading(heading[1].rstrip(": "))
        elif not text.strip():
            self._take = None
        elif self._take is not None:
            self._take(text)
        elif self._section is not None:
            self._begin(text)
        elif _COUNTER.match(text):
            self._counters += 1
        elif _TEXT_ROW.fullmatch(text.strip()) or (text[:1] == '"' and "%" not in text):
            self._of_ranges += 1

    def _heading(self, text: str) -> None:
        if text in _SECTIONS or text.endswith("result") or text.startswith("Dependency"):
            self._section, self._take = _SECTIONS.get(text), None

    def _begin(self, text: str) -> None:
        self._type = self._section or _GPU
        if _TEXT_HEADER.match(text):
            self._trace.format = "nvprof-text"
            self._rounded = True
            self._take = self._text_row
        elif _CSV_HEADER.match(text):
            names = _cells(text)
            self._columns = {name: position for position, name in enumerate(names)}
            if "Name" not in self._columns:
                raise ValueError("the header has no column Name: the file is cut")
            self._take = self._units_row

    def _units_row(self, text: str) -> None:
        self._units = self._row(text)
        trace = "Start" in self._columns
        for name in ("Start", "Duration") if trace else ("Time", "Min", "Max"):
            unit = self._units[self._columns[name]]
            if unit not in NS_PER_UNIT:
                raise ValueError(f"the row of units says {unit[:20]!r} for {name}")
            # Six digits behind the point: of seconds, those are microseconds.
            self._rounded |= unit == "s"
        self._take = self._event_row if trace else self._sum_row

    def _row(self, text: str) -> list[str]:
        cells = _cells(text)
        if len(cells) != len(self._columns):
            raise ValueError(f"{len(cells)} columns instead of {len(self._columns)}")
        return cells

    def _cell(self, cells: list[str], name: str) -> str:
        at = self._columns.get(name)
        return cells[at] if at is not None else ""

    def _ns(self, cells: list[str], name: str) -> int:
        at = self._columns[name]
        return as_ns(number_in(cells[at]), NS_PER_UNIT[self._units[at]])

    def _sum_row(self, text: str) -> None:
        cells = self._row(text)
        times = self._ns(cells, "Time"), self._ns(cells, "Min"), self._ns(cells, "Max")
        kind = self._cell(cells, "Type") or self._type
        self._sum(kind, self._cell(cells, "Name"), whole_in(self._cell(cells, "Calls")), times)

    def _text_row(self, text: str) -> None:
        match = _TEXT_ROW.fullmatch(text.strip())
        if not match:
            raise ValueError("not a row of the table")
        self._type = match[1] or self._type
        self._sum(
            self._type, match[7], whole_in(match[3]), (_text_ns(match[2]), _text_ns(match[5]), _text_ns(match[6]))
        )

    def _sum(self, kind: str, name: str, count: int, times: tuple[int, int, int]) -> None:
        on_gpu = kind == _GPU
        what, device = (_kind(name), 0) if on_gpu else (EventKind.RUNTIME, CPU)
        budget().name(name)
        self._sums.append(OperatorSum(what, name, device, count, *times))

    def _event_row(self, text: str) -> None:
        cells = self._row(text)
        name = self._cell(cells, "Name")
        if not self._cell(cells, "Duration") or (name.startswith("[Unified") and not name.startswith(_COPIES)):
            self._uncounted += 1
            return
        link = self._cell(cells, "Correlation_ID")
        match = _CORRELATION.match(name)
        if not link and match:
            name, link = match[1], match[2]
        kind, device, lane = self._where(cells, name)
        self._counts[kind] += 1
        self._batch.append(
            EventRow(
                kind,
                self._trace.names.number(name),
                self._ns(cells, "Start"),
                self._ns(cells, "Duration"),
                lane,
                device,
                whole_in(link) if link else NONE,
                self._scope(cells),
            )
        )
        if len(self._batch) >= _BATCH:
            self._flush()

    def _where(self, cells: list[str], name: str) -> tuple[EventKind, int, int]:
        """Kind, device and lane of a row; rows without a device are API calls."""
        said = self._cell(cells, "Device")
        if not said:
            return EventKind.RUNTIME, CPU, self._trace.lane(CPU, Lane(0, 0, "API calls"))
        match = _DEVICE.match(said)
        device = int(match[2]) if match else 0
        self._devices.setdefault(device, match[1] if match else said)
        last = _LAST_NUMBER.search(self._cell(cells, "Stream"))
        stream = int(last[1]) if last else 0
        return _kind(name), device, self._trace.lane((device, stream), Lane(0, stream, f"stream {stream}", device))

    def _scope(self, cells: list[str]) -> int:
        size = self._cell(cells, "Size")
        if not size:
            return NONE
        unit = self._units[self._columns["Size"]]
        return self._trace.scopes.number(BytesMoved(as_ns(number_in(size), _BYTES_PER_UNIT[unit])))

    def _flush(self) -> None:
        self._trace.add_rows(self._batch)
        self._batch.clear()

    def finish(self) -> FileContent:
        """What was read."""
        self._flush()
        trace = self._trace
        trace.skip("rows of page faults and other counters", self._uncounted, "they have no duration")
        trace.skip("rows of metrics and events", self._counters, "read from files that have these alone")
        trace.skip("rows of sections of NVTX ranges", self._of_ranges, "they repeat the main table, range by range")
        if not trace.size and not self._sums:
            raise ArtifactError("there is no table of nvprof with rows in it", path=self._path)
        if trace.size:
            names = [{"device": number, "name": name} for number, name in sorted(self._devices.items())]
            counts = {f"{kind.word}_rows": count for kind, count in self._counts.items() if count}
            trace.facts = {"devices": names, **counts}
        else:
            trace.sums = self._sums
            trace.facts = _facts(self._sums)
        if self._rounded:
            digits = "of five digits" if trace.format == "nvprof-text" else "in seconds, to the microsecond"
            trace.tell("times-rounded", "info", f"{self._path.name} gives times {digits} only.")
        return FileContent.of(trace)


def _cells(text: str) -> list[str]:
    return next(csv.reader([text], strict=True))


def _kind(name: str) -> EventKind:
    return EventKind.TRANSFER if name.startswith(_COPIES) else EventKind.KERNEL


def _text_ns(text: str) -> int:
    match = _TIME.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:40]!r} is not a time")
    return as_ns(number_in(match[1]), NS_PER_UNIT[match[2]])


def _facts(sums: list[OperatorSum]) -> dict[str, Any]:
    on_gpu = [row for row in sums if row.device != CPU]
    return {
        "gpu_activity_rows": len(on_gpu),
        "gpu_calls": sum(row.count for row in on_gpu),
        "gpu_kernel_calls": sum(row.count for row in on_gpu if row.kind is EventKind.KERNEL),
        "gpu_time_ns": sum(row.total_ns for row in on_gpu),
        "api_call_rows": len(sums) - len(on_gpu),
    }


READER = Reader("nvprof-text", "nvprof's text and CSV output", claims, read)
