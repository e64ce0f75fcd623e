"""What the artifacts of a run say while it goes on, one value for each record.

Times are nanoseconds of the run's clock (`time.perf_counter_ns`), unless a field's name ends otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self


class Span(NamedTuple):
    """A span that has begun; `kind` is a `SpanKind`, or one of a newer probe."""

    number: int
    kind: str
    name: str
    thread: int


class Step(NamedTuple):
    """One step, or `steps` that became one record (`wire.STEP`); times in ns.

    `loop` is the number of the span of its loop; `epoch` is None outside of epochs. `first` is the first call of its
    step function, which compiles. `runs_on`: it returns before the device is done; `wait_ns`: how long the host waited.
    """

    thread: int
    loop: int
    epoch: int | None
    step: int
    steps: int
    begin_ns: int
    end_ns: int
    input_ns: int
    callbacks_ns: int
    call_offset_ns: int
    call_ns: int
    first: bool
    wait_ns: int = 0
    runs_on: bool = False


class Metric(NamedTuple):
    """The last value of a metric, and where Keras gave it; `step` is None for that of an epoch."""

    value: float
    epoch: int | None
    step: int | None


@dataclass(frozen=True)
class ProcessFacts:
    """What the traced process says of itself; None: not in this record.

    Attributes:
        main_thread: Identity of the main thread.
        boot_ns: When dlprof's first line ran in the process.
        keras_backend: The backend that Keras runs on.
    """

    main_thread: int | None = None
    boot_ns: int | None = None
    keras_backend: str | None = None

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """Of a record; what else it says is passed over."""
        backend = facts.get("keras_backend")
        return cls(facts.get("main_thread"), facts.get("boot_ns"), None if backend is None else str(backend))


@dataclass(frozen=True)
class LoopLength:
    """How long a loop will be, as far as Keras says it; None: it does not.

    Attributes:
        epochs: Epochs of the loop.
        steps: Steps of an epoch.
        batches: Batches of a data set made for the loop, its own or that of its validation.
    """

    epochs: int | None = None
    steps: int | None = None
    batches: int | None = None

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """Of the facts about a span; steps are counted from samples where Keras does not give them."""
        steps = facts.get("steps")
        if not steps and facts.get("samples") and facts.get("batch_size"):
            steps = -(-facts["samples"] // facts["batch_size"])
        return cls(facts.get("epochs"), steps, facts.get("batches"))


class CoreTicks(NamedTuple):
    """Counters of a core, in ticks of the kernel since it was started."""

    user: int
    system: int
    iowait: int
    steal: int
    idle: int


class ProcessTicks(NamedTuple):
    """A process of the traced tree: its CPU time in ticks, its resident memory in pages."""

    pid: int
    cpu_ticks: int
    rss_pages: int


@dataclass(frozen=True)
class CoresSample:
    """Counters of every core, and of every process of the traced tree, at a moment."""

    time_ns: int
    cores: tuple[CoreTicks, ...]
    processes: tuple[ProcessTicks, ...]


@dataclass(frozen=True)
class GpuFigures:
    """What is shown of a GPU; None: not measured."""

    utilisation_pct: float | None = None
    memory_used_bytes: float | None = None
    memory_total_bytes: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
