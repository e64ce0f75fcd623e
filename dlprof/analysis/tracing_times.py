"""When kernels were traced: an engine's tracer takes memory itself, for its records and for what lies between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlprof.analysis.columns import Integers, Truths
from dlprof.analysis.overhead import TRACING_BEGINS, TRACING_ENDS
from dlprof.schema.vocabulary import SpanKind
from dlprof.store.run import Run


@dataclass(frozen=True)
class TracingTimes:
    """Begins and ends of the times in which kernels were traced, each in order (ns on the run's timeline)."""

    begins: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    ends: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    def at(self, time_ns: Integers) -> Truths:
        """Whether kernels were traced at each moment."""
        begun = np.searchsorted(self.begins, time_ns, side="right")
        return np.asarray(begun > np.searchsorted(self.ends, time_ns, side="left"), bool)


def of_run(run: Run) -> TracingTimes:
    """Those of a run: from where the probe begins to switch the tracer on to where it has switched it off."""
    return run.once("tracing_times", _of_run)


def _of_run(run: Run) -> TracingTimes:
    columns = ("name", "start_ns", "dur_ns")
    spans = sorted(run.chosen("spans", "kind", (SpanKind.DLPROF,), columns), key=lambda row: row["start_ns"])
    begins = [row["start_ns"] for row in spans if row["name"] == TRACING_BEGINS]
    ends = [row["start_ns"] + row["dur_ns"] for row in spans if row["name"] == TRACING_ENDS]
    return TracingTimes(np.array(begins, np.int64), np.array(ends, np.int64))
