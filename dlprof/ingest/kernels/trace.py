"""The form that every reader of traces gives its events: columns, and numbered texts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dlprof.ingest.artifact import Health

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


HELD_EVENTS = 1_000_000
"""Events that a trace holds in memory before it writes them to a file."""
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
        first_ns: Earliest start (ns); None: there are no events.
        last_ns: Latest end (ns).
        size: Number of events.
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
    first_ns: int | None = None
    last_ns: int | None = None
    size: int = 0
    _batches: list[dict[str, npt.NDArray[Any]]] = field(default_factory=list)
    _held: int = 0
    _files: list[Path] = field(default_factory=list)
    _folder: tempfile.TemporaryDirectory[str] | None = None
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
        if not size:
            return
        batch = {}
        for name, kind in zip(COLUMNS, _TYPES, strict=True):
            given = columns.get(name)
            batch[name] = np.full(size, NONE, kind) if given is None else np.asarray(given, kind)
        first, last = int(batch["start"].min()), int((batch["start"] + batch["dur"]).max())
        self.first_ns = first if self.first_ns is None else min(self.first_ns, first)
        self.last_ns = last if self.last_ns is None else max(self.last_ns, last)
        self.size += size
        self._batches.append(batch)
        self._held += size
        if self._held >= HELD_EVENTS:
            self._put_away()

    def _put_away(self) -> None:
        """Write the events that are held to a file: a large trace must not need as much memory."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="dlprof-")
        path = Path(self._folder.name) / f"{len(self._files)}.npy"
        merged = self._merged()
        with path.open("wb") as target:
            for name in COLUMNS:
                np.save(target, merged.pop(name))
        self._files.append(path)

    def _merged(self) -> dict[str, npt.NDArray[Any]]:
        """The events that are held, as one batch; they are given up."""
        batches, self._batches, self._held = self._batches, [], 0
        if not batches:
            return {name: np.empty(0, kind) for name, kind in zip(COLUMNS, _TYPES, strict=True)}
        return {name: np.concatenate([batch.pop(name) for batch in batches]) for name in COLUMNS}

    def chunks(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """All events by columns, some at a time; may be asked for again."""
        if self._held and self._files:
            self._put_away()
        for path in self._files:
            with path.open("rb") as source:
                yield {name: np.load(source) for name in COLUMNS}
        if self._held:
            self._batches = [self._merged()]
            self._held = len(self._batches[0]["start"])
            yield dict(self._batches[0])

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All events, by columns; they are given up."""
        if not self._files:
            return self._merged()
        parts = list(self.chunks())
        self.clear()
        return {name: np.concatenate([part.pop(name) for part in parts]) for name in COLUMNS}

    def clear(self) -> None:
        """Give up all events."""
        self._batches, self._held, self._files = [], 0, []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


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
