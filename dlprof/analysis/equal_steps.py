"""What a few traced steps tell of all others: steps that ran the same operators did equal work.

A window has few steps. A thread that loses its core in the middle of a product makes that ten times as long, and laid
over all steps of the run it would be the cause of everything. So of steps of equal work the one in the middle counts,
for each part and each operator by itself; steps that ran other operators (an update after every fourth batch) are
others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Floats, Integers, integers, steps_of
from dlprof.analysis.kernel_window import Window
from dlprof.schema.vocabulary import EventKind
from dlprof.store.run import Run

LEAST = 3
"""Of fewer steps of equal work none is the one in the middle: then all count, as they were."""
_WORKING = (EventKind.OPERATOR.word, EventKind.KERNEL.word)
_SURE = 0.98
"""Half of a 95 % interval of a median, in places of the order, is this times the root of the number of steps."""
_WIDER = {3: 2.9, 4: 1.5, 5: 1.1}
"""What the range of so few values is to be multiplied with, to be a 95 % interval (by Student's t)."""


@dataclass(frozen=True)
class TracedSteps:
    """Steps of a window whose work was done when they ended, in order of time.

    Attributes:
        begin: When their batch was asked for, or the window began (ns).
        end: When they were done (ns).
        group: Number of the group of equal work of each.
    """

    begin: Integers
    end: Integers
    group: Integers

    def __len__(self) -> int:
        return len(self.begin)

    def place(self, moments: Integers) -> Integers:
        """The step in which each of some moments lies; -1: in none."""
        found = np.searchsorted(self.begin, moments, side="right") - 1
        inside = (found >= 0) & (moments < self.end[np.maximum(found, 0)])
        return np.where(inside, found, -1)

    def sums(self, moments: Integers, keys: Integers, times: Integers, size: int) -> Floats:
        """Times by step and key, shape (steps, size) (ns): of what began at some moments in a step.

        Args:
            moments: When each began (ns).
            keys: What each is of, below `size`.
            times: How long each took (ns).
            size: Number of keys.
        """
        place = self.place(moments)
        seen = place >= 0
        codes = place[seen] * size + keys[seen]
        summed: Floats = np.bincount(codes, weights=times[seen], minlength=len(self) * size).astype(np.float64)
        return summed.reshape(len(self), size)

    def typical(self, each: Floats) -> Floats:
        """Sums over all steps as they would be if each were the one in the middle of its group; shape (keys).

        Args:
            each: Times by step and key, shape (steps, keys).
        """
        whole = np.zeros(each.shape[1])
        for number in np.unique(self.group):
            rows = each[self.group == number]
            whole += np.median(rows, axis=0) * len(rows) if len(rows) >= LEAST else rows.sum(axis=0)
        return whole

    def bounds(self, each: Floats) -> tuple[Floats, Floats]:
        """Between which shares of a step each key lies, as far as the steps agree; shape (keys) each.

        Each step tells by how much its shares differ from those of the others of its group. Of few steps it is from the
        least to the largest, and more, of many the interval of their median.
        """
        shares = each / np.maximum(1, each.sum(axis=1, keepdims=True))
        off = np.zeros_like(shares)
        for number in np.unique(self.group):
            rows = self.group == number
            off[rows] = shares[rows] - np.median(shares[rows], axis=0)
        ordered = np.sort(off, axis=0)
        aside = max(0, int(len(self) / 2 - _SURE * len(self) ** 0.5))
        typical, wider = self.typical(each), _WIDER.get(len(self), 1.0)
        middle = typical / max(1.0, float(typical.sum()))
        low, high = (np.clip(middle + wider * edge, 0, 1) for edge in (ordered[aside], ordered[-1 - aside]))
        return low, high

    def stretched(self, each: Floats) -> float:
        """By how much equal work took longer as a whole than in typical steps: the ratio that half of the time exceeds.

        The operator that took most longer does not count: in that its thread lost its core. Rows that are longer in
        some steps make others longer, too.

        Args:
            each: Times by step and operator, shape (steps, operators).
        """
        typical, whole = self.typical(each), each.sum(axis=0)
        known = typical > 0
        if known.any():
            known[np.argmax(whole - typical)] = False
        if not known.any():
            return 1.0
        ratio, weight = whole[known] / typical[known], typical[known]
        order = np.argsort(ratio)
        return float(ratio[order][np.searchsorted(np.cumsum(weight[order]), weight.sum() / 2)])


def of_window(run: Run, window: Window) -> TracedSteps | None:
    """The steps of a window; None: their work may go on when they end, or they are too few to agree."""
    if run.manifest.backend.asynchronous_dispatch:
        return None
    steps = steps_of(window.steps_in(run), window.loop).sort_by("start_ns")
    if steps.num_rows < LEAST or (steps["count"].null_count == 0 and integers(steps["count"]).max() > 1):
        return None
    start = integers(steps["start_ns"])
    begin, end = np.maximum(start - integers(steps["input_ns"]), window.begin_ns), start + integers(steps["dur_ns"])
    if (begin[1:] < end[:-1]).any():
        return None  # steps that overlap share their time with each other
    bare = TracedSteps(begin, end, np.zeros(len(begin), np.int64))
    return TracedSteps(begin, end, _groups(run, window, bare))


def by_operator(run: Run, window: Window, steps: TracedSteps) -> Floats:
    """Own time by step and operator (`op_id`), shape (steps, operators) (ns)."""
    events, size = _events(run, window)
    own = integers(events["dur_ns"]) - integers(events["nested_ns"])
    return steps.sums(integers(events["start_ns"]), integers(events["op_id"]), own, size)


def _events(run: Run, window: Window) -> tuple[pa.Table, int]:
    """The executions of a window, and the number of operators."""
    events = run.table("kernel_events", ("op_id", "start_ns", "dur_ns", "nested_ns", "window"))
    size = max((row["op_id"] for row in run.rows("kernel_ops")), default=-1) + 1
    return events.filter(pc.equal(events["window"], window.number)), size


def _groups(run: Run, window: Window, steps: TracedSteps) -> Integers:
    """Steps that ran each operator as often as another did have the number of that one."""
    events, size = _events(run, window)
    working = np.zeros(size + 1, bool)
    working[[row["op_id"] for row in run.rows("kernel_ops") if row["kind"] in _WORKING]] = True
    op = integers(events["op_id"])
    kept = working[op]
    ones: npt.NDArray[np.int64] = np.ones(int(kept.sum()), np.int64)
    counts = steps.sums(integers(events["start_ns"])[kept], op[kept], ones, size)
    return np.unique(counts, axis=0, return_inverse=True)[1].reshape(-1) if size else steps.group
