"""The step of each event."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels import steps
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.intervals import Intervals
from dlprof.ingest.kernels.linking import link
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import make_trace


def test_an_event_is_of_the_step_in_which_it_was_launched() -> None:
    """Not of that in which it ran."""
    events = make_trace(
        [
            (EventKind.RUNTIME, "launch", 20, 5, CPU, 0, 4),
            (EventKind.KERNEL, "sgemm", 120, 20, 0, 2, 4),
            (EventKind.OPERATOR, "after", 300, 5, CPU, 0, -1),
        ],
        "launch",
    ).events.take()
    run = Intervals(np.array([0, 100]), np.array([90, 200]), [7, 8])

    assert steps.by_time(events, link(events), run).tolist() == [7, 7, -1]


def test_steps_that_the_trace_names_have_its_numbers() -> None:
    """Other names that begin so do not."""
    trace = make_trace(
        [
            (EventKind.ANNOTATION, "ProfilerStep#12", 100, 50, CPU, 0, -1),
            (EventKind.ANNOTATION, "ProfilerStep#11", 0, 50, CPU, 0, -1),
            (EventKind.ANNOTATION, "ProfilerStep#123456789", 200, 50, CPU, 0, -1),
            (EventKind.OPERATOR, "ProfilerStep#9", 300, 5, CPU, 0, -1),
            (EventKind.ANNOTATION, "ProfilerStep#x", 400, 50, CPU, 0, -1),
        ],
        "launch",
    )

    found = steps.annotated(trace.events.take(), trace.names)

    assert (found.starts.tolist(), found.ends.tolist(), list(found.values)) == ([0, 100], [50, 150], [11, 12])
