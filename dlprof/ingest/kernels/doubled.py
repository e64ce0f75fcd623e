"""Events that a trace holds twice: written twice by its maker, or put together of files that overlap.

No thread begins the same thing twice in one moment and for as long. Some events may, where a clock is coarse or a
function only calls one of its name; when they are many, the work of all is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.ingest.kernels.events import Events
from dlprof.schema.vocabulary import EventKind

_KINDS = (EventKind.OPERATOR, EventKind.KERNEL, EventKind.TRANSFER)
_AT_ONCE = 100_000
"""Of more events a part is looked at: those of some moments, with all that began in these."""
_MIXED = np.uint64(0x9E3779B97F4A7C15)
_SHARE = 0.2
_FEWEST = 20


@dataclass
class Doubled:
    """What was looked at so far, and how many of these were there before."""

    seen: int = 0
    again: int = 0

    @property
    def are_many(self) -> bool:
        """Whether they are no chance."""
        return self.again >= max(_FEWEST, _SHARE * self.seen)

    def look(self, events: Events) -> None:
        """Look at the events of a segment."""
        chosen = np.isin(events.kind, _KINDS) & (events.dur > 0) & ~events.context
        parts = int(chosen.sum()) // _AT_ONCE + 1
        if parts > 1:
            chosen &= _mixed(events.start) % np.uint64(parts) == 0
        columns = (events.start[chosen], events.dur[chosen], events.name[chosen], events.lane[chosen])
        order = np.lexsort(columns)
        same = np.ones(max(0, len(order) - 1), bool)
        for column in columns:
            same &= np.diff(column[order]) == 0
        self.seen += len(order)
        self.again += int(same.sum())


def _mixed(start: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    """Numbers that are equal where the moments are, and spread whatever steps a clock has."""
    with np.errstate(over="ignore"):
        return (start.astype(np.uint64) * _MIXED) >> np.uint64(40)
