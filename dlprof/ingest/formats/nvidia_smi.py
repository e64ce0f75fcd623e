"""Reads the logs of `nvidia-smi --query-gpu=... --format=csv`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.errors import UsageError
from dlprof.ingest.artifact import ArtifactError, Health, Skipped
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.text_files import number_in, text_lines
from dlprof.schema.tables import TABLES

_AT_MOST = 10**9
_ROW_BYTES = 700
"""A row while it is read (bytes)."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HEADER = re.compile(r"\s*(?:[\w.]+(?: \[[^\]]*\])?\s*,\s*)*timestamp\s*(?:,|$)")
_ROW = re.compile(
    r"(?:[^,\n]{0,80},){0,30}\s*[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\s*(?:,|$)"
)
_NUMBERS = ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial")
_NAMES = ("name", "gpu_name")


_KNOWN = ("timestamp", *_NUMBERS, *_NAMES)


def _float(text: str) -> float | None:
    if not text or text.startswith("[") or text == "N/A":
        return None
    value = number_in(text.split(" ", 1)[0])
    if value > _AT_MOST:
        raise ValueError(f"{text[:40]!r} is out of range")
    return float(value)


def _bytes_of_mib(text: str) -> int | None:
    value = _float(text)
    return None if value is None else round(value * (1 << 20))


_COLUMNS: dict[str, tuple[str, Callable[[str], float | int | None]]] = {
    "utilization.gpu": ("utilisation_pct", _float),
    "utilization.memory": ("memory_utilisation_pct", _float),
    "memory.used": ("memory_used_bytes", _bytes_of_mib),
    "memory.total": ("memory_total_bytes", _bytes_of_mib),
    "power.draw": ("power_w", _float),
    "temperature.gpu": ("temperature_c", _float),
    "clocks.sm": ("sm_clock_mhz", _float),
    "clocks.current.sm": ("sm_clock_mhz", _float),
    "clocks.mem": ("memory_clock_mhz", _float),
    "clocks.current.memory": ("memory_clock_mhz", _float),
}


def claims(sample: Sample) -> bool:
    """Whether the file is a log of nvidia-smi; one without a header too, which `read` then asks for."""
    first = sample.text.lstrip("\ufeff \t\r\n").partition("\n")[0].rstrip("\r")
    return bool((_HEADER.match(first) and "," in first) or _ROW.match(first))


def read(path: Path) -> FileContent:
    """The table `gpu`; times are from the first row on (ns).

    Raises:
        ArtifactError: The file is damaged, or has no header.
    """
    return _read(path, _Reading())


def read_with_columns(path: Path, columns: Sequence[str]) -> FileContent:
    """The same of a log without a header (`--format=csv,noheader`).

    Args:
        path: The file.
        columns: The columns, as --query-gpu was given them.

    Raises:
        ArtifactError: The file is damaged.
        UsageError: No column is that of the time, or none is known.
    """
    names = [_aliased(name) for name in _plain([column.strip() for column in columns])]
    if "timestamp" not in names or not any(name in _COLUMNS for name in names):
        hint = f"known: timestamp, {', '.join(_NUMBERS + _NAMES + tuple(_COLUMNS))}; others are passed over"
        raise UsageError("--columns needs timestamp, and one that is measured.", hint=hint)
    return _read(path, _Reading(names))


def _read(path: Path, reading: _Reading) -> FileContent:
    damaged: ArtifactError | None = None
    for number, text in text_lines(path):
        if damaged is not None:
            raise damaged
        try:
            reading.line(text)
        except ValueError as error:
            damaged = ArtifactError(f"line {number}: {error}", path=path)
            damaged.__cause__ = error
            if not reading.is_cut(text):
                raise damaged from error
    return reading.finish(path, cut=damaged is not None)


class _Reading:
    """A log as its lines are read."""

    def __init__(self, header: Sequence[str] = ()) -> None:
        self._header: list[str] = list(header)
        self._rows: list[dict[str, Any]] = []
        self._gpus: dict[str, int] = {}
        self._names: dict[int, str | None] = {}
        self._zero_ns = 0
        self._back = 0

    def line(self, text: str) -> None:
        """Take the next line."""
        if not text.strip():
            return
        cells = [cell.strip() for cell in text.split(",")]
        if not self._header:
            self._begin(cells)
        elif [
            _aliased(name) for name in _plain(cells)
        ] != self._header:  # logs that were appended to have headers in between
            self._row(cells)

    def is_cut(self, text: str) -> bool:
        """Whether a line could be the last one of a log that was ended in the middle of it."""
        return 0 < text.count(",") + 1 < len(self._header) and bool(self._rows)

    def _begin(self, cells: list[str]) -> None:
        names = _plain(cells)
        if "timestamp" not in names:
            if _ROW.match(cells[0]) or not any(name in _COLUMNS for name in names):
                raise ValueError(
                    "there is no header: name the columns, as --query-gpu had them (dlprof import FILE --columns "
                    "timestamp,index,utilization.gpu,...), or leave `noheader` out of --format=csv"
                )
            raise ValueError("the column timestamp is needed: add it to --query-gpu")
        self._header = [_aliased(name) for name in names]

    def _row(self, cells: list[str]) -> None:
        if len(cells) != len(self._header):
            raise ValueError(f"{len(cells)} columns instead of {len(self._header)}")
        named = dict(zip(self._header, cells, strict=True))
        time_ns = _unix_ns(named["timestamp"])
        if not self._rows:
            self._zero_ns = time_ns
        gpu = self._number(named)
        row: dict[str, Any] = {"time_ns": time_ns - self._zero_ns, "gpu": gpu}
        for name, text in named.items():
            if name in _COLUMNS:
                column, convert = _COLUMNS[name]
                row[column] = convert(text)
        self._back += bool(self._rows) and row["time_ns"] < self._rows[-1]["time_ns"]
        self._names.setdefault(gpu, next((named[name] for name in _NAMES if name in named), None))
        budget().hold(_ROW_BYTES, "rows")
        self._rows.append(row)

    def _number(self, named: dict[str, str]) -> int:
        """Number of the GPU; where there is no index, GPUs are counted as they come."""
        key = next((name for name in _NUMBERS if name in named), None)
        if key is None:
            return 0
        if key != "index":
            return self._gpus.setdefault(named[key], min(len(self._gpus), 9999))
        if not re.fullmatch(r"[0-9]{1,4}", named[key]):
            raise ValueError(f"{named[key][:40]!r} is not the number of a GPU")
        return int(named[key])

    def finish(self, path: Path, *, cut: bool) -> FileContent:
        """What was read."""
        if not self._rows:
            raise ArtifactError("there are no rows in it", path=path)
        text = f"{path.name} gives local time, of a zone that it does not name: it is taken as UTC."
        health = [Health("clock-local-time", "info", text)]
        if self._back:
            text = f"The clock of {path.name} went back {self._back} times."
            health.append(Health("clock-went-back", "warning", text, self._back))
        if cut:
            health.append(Health("row-cut", "info", f"The last row of {path.name} is cut, and was left out.", 1))
        try:
            table = pa.Table.from_pylist(self._rows, schema=TABLES["gpu"])
        except (pa.ArrowException, ValueError, OverflowError, TypeError) as error:
            raise ArtifactError(f"damaged: {error}", path=path) from error
        unread = [name for name in self._header if name not in _COLUMNS and name not in _KNOWN]
        skipped = [Skipped(f"values of {name}", len(self._rows), "no table has a column for them") for name in unread]
        gpus = [{"gpu": number, "name": name} for number, name in sorted(self._names.items())]
        facts = {"gpus": gpus, "rows": len(self._rows)}
        return FileContent(
            "nvidia-smi", tables={"gpu": table}, zero_ns=self._zero_ns, facts=facts, health=health, skipped=skipped
        )


def _plain(cells: list[str]) -> list[str]:
    """Names of columns without their units."""
    return [cell.split(" [", 1)[0].lower() for cell in cells]


def _aliased(name: str) -> str:
    """The one name of a column that nvidia-smi knows under two."""
    return {"gpu_uuid": "uuid", "gpu_name": "name", "gpu_bus_id": "pci.bus_id"}.get(name, name)


def _unix_ns(text: str) -> int:
    time = datetime.strptime(text, "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC)
    if not 1990 <= time.year < 2200:
        raise ValueError(f"the year {time.year} is out of range")
    return (time - _EPOCH) // timedelta(microseconds=1) * 1000


READER = Reader("nvidia-smi", "nvidia-smi --query-gpu (CSV)", claims, read, read_with_columns)
