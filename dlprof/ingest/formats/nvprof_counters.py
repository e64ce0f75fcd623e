"""Reads the tables that nvprof prints with --metrics and --events, as text or as CSV: counters of kernels, no times."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from dlprof.ingest.artifact import ArtifactError, Health
from dlprof.ingest.formats.base import FileContent, Reader, Sample
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.device_names import DeviceNames
from dlprof.ingest.parse.text_files import each_line, whole_in
from dlprof.schema.tables import TABLES

_TEXT_HEADER = re.compile(r"[ \t]*Invocations[ \t]+(?:Metric|Event) Name\s.*")
_CSV_HEADER = re.compile(r'"?Device"?,"?Kernel"?,"?Invocations"?,"?(?:Metric|Event) Name"?,')
_ANY_HEADER = re.compile(rf"^(?:{_TEXT_HEADER.pattern}|{_CSV_HEADER.pattern})", re.MULTILINE)
_DEVICE = re.compile(r'\s*Device "(.*)"\s*$')
_KERNEL = re.compile(r"\s*Kernel: (\S.*)$")
_VALUE = re.compile(r"(-?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*(%|[KMGT]?B(?:/s)?)?")
_LEVEL = re.compile(r"[A-Za-z]+ \((-?[0-9]+)\)")


def claims(sample: Sample) -> bool:
    """Whether the file has a table of metrics or events of nvprof."""
    return bool(_ANY_HEADER.search(sample.text))


def read(path: Path) -> FileContent:
    """The table `kernel_counters`.

    Raises:
        ArtifactError: The file is damaged.
    """
    reading = _Reading()
    each_line(path, reading.line)
    if not reading.rows:
        raise ArtifactError("there is no table of metrics or events with rows in it", path=path)
    kernels = len({(row["device"], row["kernel"]) for row in reading.rows})
    text = (
        f"{path.name} has {len(reading.rows):,} counters of {kernels:,} kernels and no times: they are in the table "
        "kernel_counters. The kernels ran again for each set of counters, so nothing tells how long they took."
    )
    table = pa.Table.from_pylist(reading.rows, schema=TABLES["kernel_counters"])
    health = [Health("counters-only", "info", text, len(reading.rows))]
    return FileContent(
        "nvprof-counters", tables={"kernel_counters": table}, facts={"devices": reading.devices.facts()}, health=health
    )


class _Reading:
    """A file as its lines are read."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.devices = DeviceNames()
        self._titles: list[str] = []
        self._is_csv = False
        self._device = 0
        self._kernel: str | None = None

    def line(self, text: str) -> None:
        """Take the next line."""
        if _CSV_HEADER.match(text) or _TEXT_HEADER.match(text):
            self._is_csv = "," in text
            self._titles = next(csv.reader([text])) if self._is_csv else re.split(r"\s{2,}", text.strip())
        elif not text.strip() or text.lstrip().startswith("=="):
            self._titles = [] if text.strip() else self._titles
        elif self._titles:
            self._row(text)

    def _row(self, text: str) -> None:
        device, kernel = _DEVICE.match(text), _KERNEL.match(text)
        if device and not self._is_csv:
            self._device = self.devices.number(device[1])
        elif kernel and not self._is_csv:
            self._kernel = kernel[1]
        else:
            cells = next(csv.reader([text], strict=True)) if self._is_csv else re.split(r"\s{2,}", text.strip())
            if len(cells) != len(self._titles):
                raise ValueError(f"{len(cells)} columns instead of {len(self._titles)}")
            self._counter(dict(zip(self._titles, cells, strict=True)))

    def _counter(self, cells: dict[str, str]) -> None:
        if self._is_csv:
            self._device = self.devices.number(cells["Device"])
            self._kernel = cells["Kernel"]
        if self._kernel is None:
            raise ValueError("counters before the first kernel")
        values = {name: _value(cells.get(title, "")) for name, title in (("min_value", "Min"), ("max_value", "Max"))}
        mean, unit = _value(cells.get("Avg", ""))
        budget().hold_texts(6, sum(map(len, cells.values())), "rows")
        self.rows.append(
            {
                "device": self._device,
                "kernel": self._kernel,
                "counter": cells.get("Metric Name") or cells["Event Name"],
                "title": cells.get("Metric Description"),
                "unit": unit,
                "count": whole_in(cells["Invocations"]),
                **{name: value for name, (value, _) in values.items()},
                "mean_value": mean,
            }
        )


def _value(text: str) -> tuple[float | None, str | None]:
    """A value and its unit; (None, None): the tool gave none, as for an overflow."""
    match, level = _VALUE.fullmatch(text.strip()), _LEVEL.fullmatch(text.strip())
    if level:
        return float(level[1]), "level"
    return (float(match[1]), match[2]) if match else (None, None)


READER = Reader("nvprof-counters", "nvprof --metrics, --events (text and CSV)", claims, read)
