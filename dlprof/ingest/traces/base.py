"""The form that every reader of traces gives its events: columns, and numbered texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.base import Health

Integers = npt.NDArray[np.int64]
NONE = -1
"""In columns of numbers of texts, and in `link`: there is none."""
CPU = -1
"""In the column `device`: the host; GPUs count from 0."""


class Kind(IntEnum):
    """What an event is."""

    OPERATOR = 0
    """An operator, or a kernel of it, that runs on the host."""
    KERNEL = 1
    """A kernel that runs on a device."""
    TRANSFER = 2
    """A copy or memset on a device."""
    RUNTIME = 3
    """Work of a runtime or framework for others: launching kernels, scheduling operators."""
    WAIT = 4
    """The calling thread waits for a device or for other threads."""
    INPUT = 5
    """The framework fetches the next batch."""
    ANNOTATION = 6
    """A named range around others: a layer, a step, an NVTX range."""
    PYTHON = 7
    """A call of a Python function."""


COLUMNS = ("kind", "name", "start", "dur", "device", "lane", "link", "scope")
_TYPES = (np.int8, np.int32, np.int64, np.int64, np.int16, np.int32, np.int64, np.int32)


@dataclass
class Texts:
    """Texts, each with a number; the same text has the same number."""

    texts: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """The number of `text`, a new one if it is new."""
        known = self.numbers.get(text)
        if known is None:
            known = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return known

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: int) -> str:
        return self.texts[number]


@dataclass(frozen=True)
class Lane:
    """Where events of a trace run one after another: a thread of the host, or a stream of a device."""

    process: int
    """Process number as the trace has it; 0 where it has none."""
    thread: int
    """Thread number as the trace has it, or number of the stream."""
    name: str
    device: int = CPU


@dataclass
class Trace:
    """The events of one file, in the clock of that file.

    Attributes:
        path: The file.
        format: Name of the reader.
        engine: What made the events, for attribution: `torch`, `tensorflow`, `xla`, `mxnet`, `cuda`, ...
        names: Names of events.
        scopes: What an event carries besides its name, for attribution (an operator's path, an HLO operation).
        lanes: Threads and streams; the column `lane` counts in here.
        zero_ns: Unix time of the clock's zero (ns); None where the file does not say.
        facts: What the file says of itself: devices, rank, versions.
        dropped: Events that the maker of the file, or the reader, left out.
        health: What a user must know to trust the figures.
        aggregated: Rows are sums over many executions, without times.
        programs: Details of compiled programs, for attribution (by engine).
    """

    path: Path
    format: str
    engine: str
    names: Texts = field(default_factory=Texts)
    scopes: Texts = field(default_factory=Texts)
    lanes: list[Lane] = field(default_factory=list)
    zero_ns: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0
    health: list[Health] = field(default_factory=list)
    aggregated: bool = False
    programs: dict[str, Any] = field(default_factory=dict)
    batches: list[dict[str, npt.NDArray[Any]]] = field(default_factory=list)
    _lanes: dict[Any, int] = field(default_factory=dict)

    def lane(self, key: Any, make: Lane) -> int:
        """The number of the lane known as `key`; `make` is it, if it is new."""
        number = self._lanes.get(key)
        if number is None:
            number = self._lanes[key] = len(self.lanes)
            self.lanes.append(make)
        return number

    def rename_lane(self, key: Any, name: str) -> None:
        """Give the lane known as `key` a name, if there is such a lane."""
        number = self._lanes.get(key)
        if number is not None:
            old = self.lanes[number]
            self.lanes[number] = Lane(old.process, old.thread, name, old.device)

    def add(self, **columns: Iterable[Any]) -> None:
        """Add events, by columns; a column that is missing is NONE throughout."""
        size = len(columns["start"])  # type: ignore[arg-type]
        if size:
            batch = {}
            for name, kind in zip(COLUMNS, _TYPES, strict=True):
                given = columns.get(name)
                batch[name] = np.full(size, NONE, kind) if given is None else np.asarray(given, kind)
            self.batches.append(batch)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All events, by columns; the batches are given up."""
        if not self.batches:
            return {name: np.empty(0, kind) for name, kind in zip(COLUMNS, _TYPES, strict=True)}
        merged = {}
        for name in COLUMNS:
            merged[name] = np.concatenate([batch.pop(name) for batch in self.batches])
        self.batches.clear()
        return merged

    @property
    def size(self) -> int:
        """Number of events."""
        return sum(len(batch["start"]) for batch in self.batches)


@dataclass
class Foreign:
    """What a foreign file gives: events of kernels, or tables of the schema, or both.

    Attributes:
        tables: Tables of the schema, with times in the clock of the file; `who` columns are filled later.
        zero_ns: Unix time of the zero of the tables' clock (ns), or None.
    """

    format: str
    trace: Trace | None = None
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    zero_ns: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    health: Sequence[Health] = ()
