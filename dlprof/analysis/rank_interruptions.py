"""When dlprof itself held a rank of a training up, and with it the others, which wait for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dlprof.analysis.clocks import Clock
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import Phase
from dlprof.store.ranked import Member

_OURS_NS = 1_000_000
"""Work of dlprof's own that is shorter than this holds nobody up for long."""


def traced(members: Sequence[Member], clock: Clock) -> Stretches:
    """When a rank was traced, on the one clock: it is slower then, and the others wait for it."""
    return _together({one.rank: one.run.rows("kernel_windows") for one in members}, clock)


def ours(members: Sequence[Member], clock: Clock) -> Stretches:
    """When dlprof did work of its own in a rank, on the one clock: the rank stands then.

    What a tracer has seen is written behind its window, by each rank as much as it has, in the thread that trains.
    """
    rows = {one.rank: one.run.chosen("phase_intervals", "phase", (Phase.DLPROF,)) for one in members}
    return _together({rank: [one for one in found if one["dur_ns"] > _OURS_NS] for rank, found in rows.items()}, clock)


def _together(rows: Mapping[int, Sequence[Mapping[str, Any]]], clock: Clock) -> Stretches:
    """Rows of each rank's own timeline as stretches on the one clock; none where there is no such clock."""
    if clock.unknown is not None:
        return Stretches.of(())
    ends = {rank: [[one["start_ns"], one["start_ns"] + one["dur_ns"]] for one in found] for rank, found in rows.items()}
    placed = [
        clock.placements[rank].placed(np.array(one, np.int64).reshape(-1, 2)) for rank, one in ends.items() if one
    ]
    return Stretches.of(np.concatenate(placed) if placed else ())
