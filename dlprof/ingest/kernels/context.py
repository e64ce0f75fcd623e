"""Where a trace belongs in its run."""

from __future__ import annotations

from dataclasses import dataclass, field

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.attribution.labels import Model
from dlprof.ingest.kernels.intervals import Intervals


@dataclass(frozen=True)
class TraceContext:
    """The run around a trace.

    Attributes:
        process: The process that was traced.
        shift_ns: What is added to the trace's times to get those of the run.
        window: Number of the window.
        model: What is known of the model.
        steps: Steps of the run; their values are running numbers.
        phases: Phases of the run.
        span: Begin and end (ns on the run's timeline) of what is kept: events that begin in it; None: all of them.
    """

    process: ProcessId
    shift_ns: int
    window: int
    model: Model = field(default_factory=Model)
    steps: Intervals = field(default_factory=Intervals)
    phases: Intervals = field(default_factory=Intervals)
    span: tuple[int, int] | None = None
