"""Evaluations between the updates of a foreign trace: passes forward that no pass back follows.

Where a step is all from one update to the next, a validation at the end of an epoch is in the first step behind it. It
shows as more products and convolutions forward than other steps have, and no more on the way back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers, truths
from dlprof.schema.vocabulary import Category, Direction, EventKind
from dlprof.store.run import Run

_COMPUTING = (Category.MATMUL, Category.CONV)
_MORE = 1.5
"""Times as many as the step in the middle has: sequences of other lengths may take some more."""
_FEWEST = 3
"""Of fewer steps none is the usual one."""
_COLUMNS = ("op_id", "window", "device", "start_ns", "dur_ns")


def begins_behind(run: Run, window: int, steps: Sequence[tuple[int, int]]) -> list[int]:
    """When each step begins without the evaluation in front of it (ns): where there is none, as it did.

    Args:
        run: The run.
        window: The file that the steps are in.
        steps: Begin and end of each (ns), in order and without overlap.
    """
    begins = [begin for begin, _ in steps]
    if len(steps) < _FEWEST:
        return begins
    forward, back = (_of_direction(run, window, way) for way in (Direction.FORWARD, Direction.BACKWARD))
    edges = np.asarray(steps, np.int64)
    there, returns = (_counts(edges, start) for start, _ in (forward, back))
    usual = int(np.median(there))
    is_more: Truths = (
        (there >= _MORE * usual) & (there > usual) & (returns <= _MORE * np.median(returns)) & (returns > 0)
    )
    for at in np.flatnonzero(is_more).tolist() if usual else ():
        low = int(np.searchsorted(forward[0], edges[at, 0]))
        surplus = forward[1][low : low + int(there[at]) - usual]
        begins[at] = min(int(surplus.max()), int(edges[at, 1]))
    return begins


def _of_direction(run: Run, window: int, direction: Direction) -> tuple[Integers, Integers]:
    """Begin and end of the products and convolutions of the host in one direction (ns), in order of their begin."""
    wanted = [
        op["op_id"]
        for op in run.rows("kernel_ops")
        if op["kind"] == EventKind.OPERATOR.word and op["category"] in _COMPUTING and op["direction"] == direction
    ]
    ids = pa.array(wanted, pa.int32())
    starts, ends = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for piece in run.pieces("kernel_events", _COLUMNS) if wanted else ():
        chosen = truths(pc.and_(pc.is_in(piece["op_id"], ids), pc.equal(piece["window"], window)))
        chosen &= integers(piece["device"]) < 0
        start = integers(piece["start_ns"])[chosen]
        starts.append(start)
        ends.append(start + integers(piece["dur_ns"])[chosen])
    begin, end = np.concatenate(starts), np.concatenate(ends)
    order = np.argsort(begin, kind="stable")
    return begin[order], end[order]


def _counts(edges: Integers, moments: Integers) -> Integers:
    """How many moments, in order, are in each step."""
    low, high = (np.searchsorted(moments, edges[:, side]) for side in (0, 1))
    return np.asarray(high - low, np.int64)
