"""Reads the tables that nvprof prints with --print-gpu-trace and --print-api-trace: a row per kernel, copy and call.

A column ends where its title ends; the name begins where its title begins.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from dlprof.ingest.artifact import ArtifactError
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.scopes import BytesMoved
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.device_names import DeviceNames
from dlprof.ingest.parse.text_files import as_ns, each_line, number_in
from dlprof.schema.vocabulary import EventKind

_HEADER = re.compile(r"^(?P<margin>\s*)Start\s+Duration\s+(?:\S.*\s)?Name\s*$")
_ANY_HEADER = re.compile(r"^[ \t]*Start[ \t]+Duration[ \t]+(?:\S.*[ \t])?Name[ \t\r]*$", re.MULTILINE)
_TITLE = re.compile(r"\S+(?: \S+)*")
_HEADING = re.compile(r"\s*={2,}[0-9]*={2,}")
_TIME = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ns|us|ms|s)")
_SIZE = re.compile(r"([0-9.]+)([KMGT]?B)")
_NS_PER_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_BYTES_PER_UNIT = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
_LAUNCHED = re.compile(r"(.*\S) \[([0-9]{1,18})\]$")
_LAUNCH = re.compile(r"\[([0-9]{1,18})\]\)$")
_COPIES = ("[CUDA memcpy", "[CUDA memset", "[Unified Memory Memcpy")
_BATCH = 100_000
_COARSE_NS = 1_000


class _Column(NamedTuple):
    title: str
    begin: int
    end: int


def claims(sample: Sample) -> bool:
    """Whether the file has a table of nvprof with a row per kernel, copy or call."""
    return bool(_ANY_HEADER.search(sample.text))


def read(path: Path) -> FileContent:
    """The kernels, copies and API calls.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _Reading(path)
    each_line(path, reading.line)
    return reading.finish()


class _Reading:
    """A file as its lines are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._trace = Trace(path, "nvprof-trace", "cuda", attribution="range")
        self._columns: list[_Column] = []
        self._batch: list[EventRow] = []
        self._devices = DeviceNames()
        self._untimed = 0
        self._coarsest_ns = 0

    def line(self, text: str) -> None:
        """Take the next line."""
        if _HEADER.match(text):
            self._columns = _columns(text)
        elif not text.strip() or _HEADING.match(text):
            self._columns = []
        elif self._columns:
            self._row(text)

    def _row(self, text: str) -> None:
        cells = {column.title: text[column.begin : column.end].strip() for column in self._columns}
        name = cells["Name"]
        if cells["Duration"] in ("", "-") or (name.startswith("[Unified") and not name.startswith(_COPIES)):
            self._untimed += 1
            return
        start, dur = self._ns(cells["Start"]), self._ns(cells["Duration"])
        kind, device, lane, link = self._where(cells)
        plain = _LAUNCHED.match(name) if kind is EventKind.KERNEL else None
        number = self._trace.names.number(plain[1] if plain else name)
        self._batch.append(EventRow(kind, number, start, dur, lane, device, link, self._scope(cells)))
        if len(self._batch) >= _BATCH:
            self._flush()

    def _ns(self, text: str) -> int:
        match = _TIME.fullmatch(text)
        if not match:
            raise ValueError(f"{text[:40]!r} is not a time: the columns are not where their titles are")
        unit = _NS_PER_UNIT[match[3]]
        self._coarsest_ns = max(self._coarsest_ns, unit // 10 ** len(match[2] or ""))
        return as_ns(number_in(f"{match[1]}.{match[2] or '0'}"), unit)

    def _where(self, cells: dict[str, str]) -> tuple[EventKind, int, int, int]:
        """Kind, device, lane and link; rows of a table without a device are calls of the API."""
        name = cells["Name"]
        if "Device" not in cells:
            link = _LAUNCH.search(name)
            kind = EventKind.WAIT if "ynchronize" in name else EventKind.RUNTIME
            return kind, CPU, self._trace.lane(CPU, Lane(0, 0, "API calls")), int(link[1]) if link else NONE
        device, stream = self._devices.number(cells["Device"]), _whole(cells.get("Stream", ""))
        lane = self._trace.lane((device, stream), Lane(0, stream, f"stream {stream}", device))
        launched = _LAUNCHED.match(name)
        if name.startswith(_COPIES):
            return EventKind.TRANSFER, device, lane, NONE
        return EventKind.KERNEL, device, lane, int(launched[2]) if launched else NONE

    def _scope(self, cells: dict[str, str]) -> int:
        match = _SIZE.fullmatch(cells.get("Size", ""))
        if not match:
            return NONE
        return self._trace.scopes.number(BytesMoved(as_ns(number_in(match[1]), _BYTES_PER_UNIT[match[2]])))

    def _flush(self) -> None:
        self._trace.add_rows(self._batch)
        self._batch.clear()

    def finish(self) -> FileContent:
        """What was read."""
        self._flush()
        trace = self._trace
        trace.skip("rows of page faults and other counters", self._untimed, "they have no duration")
        if not trace.size and not trace.skipped:
            raise ArtifactError("there is no table of nvprof with rows in it", path=self._path)
        trace.facts = {"devices": self._devices.facts()}
        severity = "warning" if self._coarsest_ns > _COARSE_NS else "info"
        text = (
            f"{self._path.name} gives times of five digits only, the coarsest to {self._coarsest_ns:,} ns: "
            "gaps and overlaps that are shorter cannot be told."
        )
        trace.tell("times-rounded", severity, text)
        return FileContent.of(trace)


def _columns(header: str) -> list[_Column]:
    found = list(_TITLE.finditer(header))
    ends = [0, *(match.end() for match in found)]
    columns = [_Column(match[0], ends[at], match.end()) for at, match in enumerate(found)]
    return [*columns[:-1], _Column(columns[-1].title, ends[-2], 1 << 20)]


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


READER = Reader("nvprof-trace", "nvprof --print-gpu-trace, --print-api-trace (text)", claims, read)
