"""Steps of each loop for a chart: all of a short run; of a long one those that show its course and its outliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from dlprof.analysis.columns import Floats, Integers, Truths, integers, truths
from dlprof.analysis.steps import StepSummary
from dlprof.schema.vocabulary import RunState, StepTime
from dlprof.store.run import Run
from dlprof.store.values import values

Interval = tuple[int, int]
"""Begin and end (ns)."""
_COLUMNS = ("loop", "loop_id", "epoch", "count", "start_ns", "dur_ns", "input_ns", "compiled")
_ALL = 20_000
"""Up to so many rows of a loop all are drawn."""
_STRETCHES = 4_000
"""Of more rows these many stretches are made, of each of which the shortest and the longest are drawn."""
_EPOCHS = 500
"""Up to so many epochs of a loop their begins are told."""


def of_run(run: Run, loops: Sequence[StepSummary]) -> list[dict[str, Any]]:
    """Steps of each loop, with the wait for their batch; what the page's script draws.

    The chart's median is that of the steps as they are drawn: none where they are only dispatches. Of a long loop the
    shortest and the longest of each stretch are drawn, and the first in which a graph was compiled; `of` says of how
    many rows, `each` how many a stretch has.

    Args:
        run: The run.
        loops: As the report has them.
    """
    medians_ns: dict[str, int | None] = {loop.loop: loop.median_ns for loop in loops if loop.how is StepTime.MEASURED}
    traced = [] if run.manifest.state == RunState.IMPORTED else run.rows("kernel_windows")  # there they are all of it
    windows = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in traced]
    found = {loop: _Loop(rows, windows) for loop, rows in _counted(run).items()}
    for piece in run.pieces("steps", _COLUMNS):
        for loop, rows in _by_loop(piece):
            found[loop].add(rows)
    order = sorted(found, key=lambda loop: found[loop].begin_ns)
    return [{"loop": loop, "median_ns": medians_ns.get(loop), **found[loop].drawn()} for loop in order]


def _counted(run: Run) -> dict[str, int]:
    """How many rows each loop has."""
    counts: dict[str, int] = {}
    for piece in run.pieces("steps", ("loop",)):
        for loop, rows in _by_loop(piece):
            counts[loop] = counts.get(loop, 0) + rows.num_rows
    return counts


def _by_loop(piece: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    loops = np.array(values(piece["loop"]), object)
    for loop in dict.fromkeys(loops.tolist()):
        yield loop, piece.filter(pa.array(loops == loop))


@dataclass
class _Rows:
    """Rows of steps that may be drawn, an array each."""

    place: Integers
    """Among the rows of the loop."""
    number: Integers
    """Of the first step, from 1."""
    ms: Floats
    compiled: Truths

    def take(self, rows: Integers) -> _Rows:
        return _Rows(self.place[rows], self.number[rows], self.ms[rows], self.compiled[rows])


@dataclass
class _Loop:
    """The rows of a loop, as they come."""

    rows: int
    windows: Sequence[Interval]
    begin_ns: int = 0
    each: int = field(init=False)
    done: int = 0
    steps: int = 0
    epoch: tuple[int, int] | None = None
    several: bool = False
    epoch_starts: list[int] = field(default_factory=list)
    inside: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Places of the first and the last row of each window."""
    kept: list[_Rows] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.each = 1 if self.rows <= _ALL else -(-self.rows // _STRETCHES)

    def add(self, table: pa.Table) -> None:
        """More rows."""
        table = table.sort_by("start_ns")
        start, count = integers(table["start_ns"]), integers(table["count"], 1)
        if not self.done:
            self.begin_ns = int(start[0])
        place = self.done + np.arange(len(start))
        number = self.steps + np.cumsum(count) - count + 1
        taken = integers(table["dur_ns"]) + integers(table["input_ns"])
        rows = _Rows(place, number, taken / np.maximum(1, count) / 1e6, truths(table["compiled"]))
        self._see_epochs(integers(table["loop_id"]), integers(table["epoch"], -1))
        self._see_windows(start)
        self.several = self.several or bool((count > 1).any())
        self.done, self.steps = self.done + len(start), self.steps + int(count.sum())
        self.kept.append(self._chosen(rows))

    def _see_epochs(self, loop_id: Integers, epoch: Integers) -> None:
        before = self.epoch or (int(loop_id[0]) - 1, 0)
        begins = (np.diff(loop_id, prepend=before[0]) != 0) | (np.diff(epoch, prepend=before[1]) != 0)
        if len(self.epoch_starts) <= _EPOCHS:
            self.epoch_starts += (self.done + np.flatnonzero(begins)[: _EPOCHS + 1]).tolist()
        self.epoch = int(loop_id[-1]), int(epoch[-1])

    def _see_windows(self, start: Integers) -> None:
        for window, (begin, end) in enumerate(self.windows):
            places = self.done + np.flatnonzero((start >= begin) & (start < end))
            if len(places):
                first, _ = self.inside.get(window, (int(places[0]), 0))
                self.inside[window] = first, int(places[-1])

    def _chosen(self, rows: _Rows) -> _Rows:
        """Those that are drawn, and some that may be, where a stretch goes on in the next piece."""
        if self.each == 1 or not len(rows.place):
            return rows
        wanted = {*self.epoch_starts, *(place for pair in self.inside.values() for place in pair)}
        marks = np.isin(rows.place, np.array(sorted(wanted), np.int64))
        return rows.take(np.union1d(_ends(rows, self.each), np.flatnonzero(marks)))

    def drawn(self) -> dict[str, Any]:
        """What the page's script draws of it; rows are told by their place among those that are drawn."""
        rows = self._chosen(_joined(self.kept))
        place = {at: n for n, at in enumerate(rows.place.tolist())}
        starts = self.epoch_starts if len(self.epoch_starts) <= _EPOCHS else []
        return {
            # Of rows that stand for several steps this is the first one's number.
            "number": rows.number.tolist() if self.several or self.each > 1 else None,
            "step_ms": np.round(rows.ms, 4).tolist(),
            "compiled": np.flatnonzero(rows.compiled).tolist(),
            "epoch_starts": [place[at] for at in starts],
            "windows": [[place[first], place[last]] for _, (first, last) in sorted(self.inside.items())],
            "of": self.rows,
            "each": self.each,
        }


def _ends(rows: _Rows, each: int) -> Integers:
    """The shortest and the longest row of each stretch, and the first of it that compiled."""
    stretch = rows.place // each
    order = np.lexsort((rows.ms, stretch))
    begins = np.flatnonzero(np.diff(stretch[order], prepend=-1))
    last = np.append(begins[1:], len(order)) - 1
    compiled = np.flatnonzero(rows.compiled)
    _, first = np.unique(stretch[compiled], return_index=True)
    return np.concatenate((order[begins], order[last], compiled[first]))


def _joined(parts: Sequence[_Rows]) -> _Rows:
    columns = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("place", "number", "ms", "compiled")
    )
    return _Rows(*columns)
