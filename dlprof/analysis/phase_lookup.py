"""In which leaf phase of the main thread a stretch of time lies."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import pyarrow as pa

from dlprof.schema.vocabulary import TreePath, known_phase

_LAST = 1 << 62
"""Later than any time."""


class PhaseLookup:
    """The leaf phases of a run, to look stretches of time up in.

    Args:
        intervals: Table `phase_intervals`.
    """

    def __init__(self, intervals: pa.Table) -> None:
        self._intervals = [
            (row["start_ns"], row["start_ns"] + row["dur_ns"], row["phase"]) for row in intervals.to_pylist()
        ]

    @property
    def is_empty(self) -> bool:
        """Whether the run has no phases, as one of foreign traces."""
        return not self._intervals

    def cut(self, begin: int, end: int) -> list[tuple[str, int]]:
        """The parts of [begin, end) that lie in each stretch of a phase, in order of time, with their length (ns)."""
        parts = []
        index = max(0, bisect_right(self._intervals, (begin, _LAST)) - 1)
        while index < len(self._intervals) and self._intervals[index][0] < end:
            low, high, phase = self._intervals[index]
            dur = min(end, high) - max(begin, low)
            if dur > 0:
                parts.append((phase, dur))
            index += 1
        return parts

    def by_place(self, intervals: Iterable[tuple[int, int]]) -> dict[TreePath, int]:
        """Time of some intervals, (begin, end), by the place of the phase that it lies in (ns)."""
        times: dict[TreePath, int] = {}
        for begin, end in intervals:
            for phase, dur in self.cut(begin, end):
                place = known_phase(phase).root
                times[place] = times.get(place, 0) + dur
        return times
