"""What a raw stream of the in-process probe holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlprof.ingest.artifact import Health
from dlprof.ingest.own import datasets, held_objects, loader_passes, model_memory
from dlprof.ingest.own.collectives import Collectives
from dlprof.ingest.own.columns import Columns, Metrics
from dlprof.ingest.own.span_log import SpanLog
from dlprof.ingest.own.step_log import StepLog
from dlprof.ingest.own.syncs import Sync
from dlprof.ingest.own.threads_in_turn import ThreadsInTurn

_INT64 = 1 << 63
LEAP_NS = 24 * 3600 * 1_000_000_000
"""No process is silent for so long: a later time is damage."""
_SLACK_NS = 10_000_000_000
"""What began before the process's own zero, in a notebook."""


@dataclass(frozen=True)
class Bounds:
    """Between which times the process lived, on its clock (ns); None: not known."""

    start_ns: int | None = None
    end_ns: int | None = None

    def check(self, time_ns: int, last_ns: int) -> int:
        """The time, if it can be one of the process's.

        Args:
            time_ns: A time that a record names.
            last_ns: The latest of the records before.

        Raises:
            ValueError: It cannot.
        """
        earliest, latest = self.between(last_ns)
        if not earliest <= time_ns < latest:
            raise ValueError(f"the time {time_ns} is not one of the process's")
        return time_ns

    def between(self, last_ns: int) -> tuple[int, int]:
        """The times that can be the process's, as [first, behind the last), where `last_ns` is the latest so far."""
        earliest = self.start_ns - _SLACK_NS if self.start_ns is not None else 0
        latest = _INT64 if self.start_ns is None else max(last_ns, self.start_ns) + LEAP_NS
        return earliest, self.end_ns or latest


@dataclass
class Stream:
    """All that a stream holds; times are the process's clock (ns).

    Attributes:
        steps: In order, with the fields of `wire.STEP`.
        metrics: Rows (loop, epoch, step, time, name, value).
        collections: Rows of the fields of `wire.GC`.
        complete: Whether the probe finished in order.
        last_ns: The latest time that the stream names.
        read_bytes: How far the stream could be read.
        damage: From where on it cannot be read, and why; None: nothing in it is damaged.
        changed: It was written whole and is not what was written, though it can be read.
    """

    path: Path = Path("inproc.wire")
    meta: dict[str, Any] = field(default_factory=dict)
    spans: SpanLog = field(default_factory=SpanLog)
    steps: StepLog = field(default_factory=StepLog)
    metrics: Metrics = field(default_factory=Metrics)
    collections: Columns = field(default_factory=lambda: Columns("qqbq"))
    threads: dict[int, str] = field(default_factory=dict)
    """Names of threads by their numbers: of those that had one in turn the first."""
    in_turn: ThreadsInTurn = field(default_factory=ThreadsInTurn)
    """Which threads had a number one after the other."""
    notes: list[Health] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    children: dict[int, str] = field(default_factory=dict)
    """Names of the processes that `multiprocessing` started, by their numbers."""
    started_at: dict[int, tuple[str, int]] = field(default_factory=dict)
    """The user's lines that started processes, by their numbers."""
    passes: list[loader_passes.Pass] = field(default_factory=list)
    datasets: list[datasets.Pipeline] = field(default_factory=list)
    """Pipelines of tf.data."""
    objects: list[held_objects.Held] = field(default_factory=list)
    """How much Python held."""
    models: dict[int, model_memory.Model] = field(default_factory=dict)
    """What models hold, by their numbers; what was told last."""
    stretches: Columns = field(default_factory=lambda: Columns("qqqq"))
    """When threads of an engine ran Python: rows of the fields of `wire.STRETCH`."""
    syncs: dict[int, Sync] = field(default_factory=dict)
    """Where the program asked for values of the device, by number."""
    collectives: Collectives = field(default_factory=Collectives)
    strings: dict[int, str] = field(default_factory=lambda: {0: ""})
    complete: bool = False
    last_ns: int = 0
    read_bytes: int = 0
    cut: str | None = None
    damage: str | None = None
    changed: bool = False
    bounds: Bounds = field(default_factory=Bounds)
