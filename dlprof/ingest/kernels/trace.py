"""The form that every reader gives what it read: events by columns, with numbered names, scopes and lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import Health, Skipped
from dlprof.ingest.kernels.event_store import EventStore
from dlprof.ingest.kernels.events import CPU, EventRow, Events
from dlprof.ingest.kernels.held import Allocations
from dlprof.ingest.kernels.input_stages import TracedStage
from dlprof.ingest.kernels.numbered import Bounded, Numbered
from dlprof.ingest.kernels.scopes import Scope
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.hlo import Program
from dlprof.ingest.parse.hlo_buffers import Plan
from dlprof.schema.vocabulary import EventKind

BY_LAUNCH = "launch"
"""The attribution that needs nothing but names, nesting and launches."""


@dataclass(frozen=True)
class Lane:
    """Where events of a trace run one after another: a thread of the host, or a stream of a device."""

    process: int
    """Process number as the trace has it; 0 where it has none."""
    thread: int
    """Thread number as the trace has it, or number of the stream."""
    name: str
    device: int = CPU


@dataclass(frozen=True)
class OperatorSum:
    """Many executions of one operator, kernel or call as a sum, of profilers that keep no times.

    Attributes:
        kind: What it is.
        name: Its name.
        device: Where it ran.
        count: How often.
        total_ns: Time of all executions (ns).
        min_ns: Time of the shortest (ns); None: not told.
        max_ns: Time of the longest (ns); None: not told.
        tells_work: Whether its name tells what is done; that of a module does not.
    """

    kind: EventKind
    name: str
    device: int
    count: int
    total_ns: int
    min_ns: int | None = None
    max_ns: int | None = None
    tells_work: bool = True


@dataclass
class Trace:
    """The events of one file, in the clock of that file.

    Attributes:
        path: The file.
        format: Name of the format.
        engine: What made the events, for people: `torch`, `tensorflow`, `xla`, `mxnet`, `cuda`, ...
        attribution: Name of the way (`dlprof.ingest.attribution.registry`) in which layers and operators are found.
        names: Names of events.
        scopes: What events carry besides their names.
        lanes: Threads and streams; the column `lane` counts in here.
        zero_ns: Unix time of the clock's zero (ns); None where the file does not say.
        facts: What the file says of itself: devices, rank, versions.
        dropped: Events that the maker of the file, or the reader, left out.
        health: What a user must know to trust the figures.
        skipped: What of the file the reader passed over; a maker's losses are in `dropped`, not here.
        sums: In place of events: sums over many executions. None: it is a trace of events.
        programs: The programs that XLA compiled, by name.
        plans: What XLA planned for the temporaries of those that ran, by name and number.
        input_stages: Stages of input pipelines that ran meanwhile.
        allocations: What allocators of the host took and gave back meanwhile; None: the file does not tell.
    """

    path: Path
    format: str
    engine: str
    attribution: str = BY_LAUNCH
    names: Numbered[str] = field(default_factory=Bounded)
    scopes: Numbered[Scope] = field(default_factory=Bounded)
    lanes: list[Lane] = field(default_factory=list)
    zero_ns: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0
    health: list[Health] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    sums: Sequence[OperatorSum] | None = None
    programs: dict[str, Program] = field(default_factory=dict)
    plans: dict[tuple[str, int], Plan] = field(default_factory=dict)
    input_stages: Sequence[TracedStage] = ()
    allocations: Allocations | None = None
    events: EventStore = field(default_factory=EventStore)
    _lanes: dict[Any, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of events."""
        return self.events.size

    @property
    def first_ns(self) -> int | None:
        """Earliest start (ns); None: there are no events."""
        return self.events.first_ns

    @property
    def last_ns(self) -> int | None:
        """Latest end (ns); None: there are no events."""
        return self.events.last_ns

    def lane(self, key: Any, make: Lane) -> int:
        """The number of the lane known as `key`; `make` is it, if it is new.

        Raises:
            LimitError: There are too many of them.
        """
        number = self._lanes.get(key)
        if number is None:
            budget().lane()
            number = self._lanes[key] = len(self.lanes)
            self.lanes.append(make)
        return number

    def rename_lane(self, key: Any, name: str) -> None:
        """Give the lane known as `key` a name, if there is such a lane."""
        number = self._lanes.get(key)
        if number is not None:
            self.lanes[number] = replace(self.lanes[number], name=name)

    def add(self, **columns: Iterable[int]) -> None:
        """Add events, by the columns of `Events`; one that is missing is NONE throughout."""
        self.events.add(Events.of(**columns))

    def add_rows(self, rows: Sequence[EventRow]) -> None:
        """Add events that were taken one by one."""
        self.events.add(Events.of_rows(rows))

    def tell(self, slug: str, severity: str, message: str, count: int | None = None) -> None:
        """Note what the user must know."""
        self.health.append(Health(slug, severity, message, count))

    def skip(self, what: str, events: int, why: str) -> None:
        """Note what the reader passed over; nothing if there is none."""
        if events:
            self.skipped.append(Skipped(what, events, why))

    def drop(self, slug: str, severity: str, message: str, count: int) -> None:
        """Note events that were left out, and why; nothing if there are none."""
        if count:
            self.tell(slug, severity, message, count)
            self.dropped += count
