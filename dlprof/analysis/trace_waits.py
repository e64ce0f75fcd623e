"""Waits for data in a run of foreign traces: how many there are in its steps and outside of them, and how long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import trace_phases, trace_tree
from dlprof.analysis.columns import integers
from dlprof.analysis.stretches import Stretches
from dlprof.schema import trace_marks
from dlprof.schema.trace_marks import MarkSort
from dlprof.schema.tree_paths import TreePath
from dlprof.store.run import Run

_FEWEST = 3
_MOST_OF_ALL = 0.5
_TIMES_USUAL = 5


@dataclass(frozen=True)
class Waits:
    """Waits of one place; what lies in another one, or overlaps it, is one with it.

    Attributes:
        count: How many begin there.
        longest_ns: The longest (ns).
        total_ns: All of them (ns).
        usual_ns: The median of all waits of the trace (ns); None: they are too few to tell.
    """

    count: int
    longest_ns: int
    total_ns: int
    usual_ns: float | None = None

    @property
    def are_of_batches(self) -> bool:
        """Whether they come again and again, or are as the others: loading a data set once is no wait for a batch."""
        repeat = self.count >= _FEWEST and self.longest_ns <= _MOST_OF_ALL * self.total_ns
        return repeat or (self.usual_ns is not None and self.longest_ns <= _TIMES_USUAL * self.usual_ns)


def by_root(run: Run) -> dict[TreePath, Waits]:
    """Place of the tree to the waits that begin in it; places without any are left out."""
    return run.once("waits of a trace", _by_root)


def _by_root(run: Run) -> dict[TreePath, Waits]:
    waits = _of_process(run)
    lasts = waits.end - waits.begin
    usual = float(np.median(lasts)) if len(lasts) >= _FEWEST else None
    found = {}
    for root, within in trace_tree.roots(run).items():
        inside = within.hold(waits.begin)
        if inside.any():
            found[root] = Waits(int(inside.sum()), int(lasts[inside].max()), int(lasts[inside].sum()), usual)
    return found


def _of_process(run: Run) -> Stretches:
    """When the process that the run is told of waited for data."""
    place = trace_phases.main_place(run)
    marks = trace_marks.of_ops(run.rows("kernel_ops"))
    wanted = pa.array([op for op, mark in marks.items() if mark.sort is MarkSort.INPUT], pa.int32())
    table = run.filtered(
        "kernel_events",
        ("op_id", "host", "rank", "pid", "device", "start_ns", "dur_ns"),
        lambda piece: pc.and_(pc.is_in(piece["op_id"], wanted), pc.less(piece["device"], 0)),
    )
    for name in ("rank", "host", "pid") if place is not None else ():
        value = getattr(place, name)
        table = table.filter(pc.equal(table[name].cast("string"), str(value))) if value is not None else table
    start = integers(table["start_ns"])
    return Stretches.covered(start, start + integers(table["dur_ns"]))
