"""Counts what a reader of Chrome's format passes over, and says why."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping

from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.limits import budget
from dlprof.ingest.parse.chrome import Event

_METADATA = "M"
_NO_TABLE = "there is no table for them"
_PHASES: Mapping[str, tuple[str, str]] = {
    "X": ("events", "not of a category that this format is read for"),
    "B": ("begins of events", "not of a category that this format is read for"),
    "E": ("ends of events", "not of a category that this format is read for"),
    "C": ("values of counters", _NO_TABLE),
    "N": ("objects", _NO_TABLE),
    "O": ("objects", _NO_TABLE),
    "D": ("objects", _NO_TABLE),
    **dict.fromkeys("iIRnT", ("instants", "they have no duration")),
    **dict.fromkeys("stf", ("arrows", "they take no time: launches are told by correlation numbers")),
    **dict.fromkeys("beSFp", ("asynchronous events", "they overlap, and no thread runs them")),
}
"""What events of a phase are called, and why they are not read."""


_SORTS_AT_MOST = 1000


class PassedOver:
    """What was passed over in one file.

    Args:
        reasons: Why events of a category (in lower case) are not read, where it is known.
    """

    def __init__(self, reasons: Mapping[str, str] | None = None) -> None:
        self._reasons = reasons or {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, event: Event) -> None:
        """Count an event; metadata are no events."""
        self.count(event.ph, event.cat or "", 1)

    def add_all(self, events: Iterable[Event]) -> None:
        """Count events; metadata are none."""
        for event in events:
            self.add(event)

    def count(self, phase: str, category: str, events: int) -> None:
        """Count events of a phase and a category."""
        if phase == _METADATA:
            return
        if (phase, category) not in self._counts:
            budget().hold_texts(2, len(phase) + len(category), "categories of events")
        self._counts[phase, category] += events

    def tell(self, trace: Trace) -> None:
        """Give the trace the sums, one for each sort and category."""
        sums: Counter[tuple[str, str]] = Counter()
        for (phase, category), events in self._counts.items():
            noun, why = _PHASES.get(phase, (f"events of phase {phase[:8]!r}", "the format has no such phase"))
            what = f"{noun} of category {category[:60]}" if category else noun
            sums[what, self._reasons.get(category.lower(), why)] += events
        kept = list(itertools.islice(sums.items(), _SORTS_AT_MOST))
        for (what, why), events in kept:
            trace.skip(what, events, why)
        rest = sums.total() - sum(events for _, events in kept)
        trace.skip(f"events of {len(sums) - len(kept):,} further sorts", rest, "not read")
