"""What readers of Chrome's format pass over."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.artifact import Skipped
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.chrome import Event
from dlprof.ingest.parse.passed_over import PassedOver


def test_events_are_counted_by_sort_and_category_with_the_reason_and_metadata_are_none() -> None:
    """A reason that the reader knows for a category comes before that of the phase."""
    passed_over, trace = PassedOver({"overhead": "the profiler's own work"}), Trace(Path("t"), "f", "e")
    passed_over.add_all([Event("C", cat="x"), Event("M"), Event("i"), Event("I"), Event("Z")])
    passed_over.count("X", "Overhead", 5)

    passed_over.tell(trace)

    assert trace.skipped == [
        Skipped("values of counters of category x", 1, "there is no table for them"),
        Skipped("instants", 2, "they have no duration"),
        Skipped("events of phase 'Z'", 1, "the format has no such phase"),
        Skipped("events of category Overhead", 5, "the profiler's own work"),
    ]
