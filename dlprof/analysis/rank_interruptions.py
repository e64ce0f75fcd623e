"""When dlprof itself held a rank of a training up, and with it the others, which wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dlprof.analysis.clocks import Clock
from dlprof.analysis.columns import Integers
from dlprof.analysis.stretches import Stretches
from dlprof.schema.vocabulary import Phase
from dlprof.store.ranked import Member

_OURS_NS = 1_000_000
"""Work of dlprof's own that is shorter than this holds nobody up for long."""


@dataclass(frozen=True)
class Interruptions:
    """When dlprof held ranks up, on the clock that they have in common; nothing where they have none.

    Attributes:
        traced: When one was traced: it is slower then.
        ours: When dlprof did work of its own in one: that stands then. What a tracer has seen is written behind its
            window, by each rank as much as it has, in the thread that trains.
    """

    traced: Stretches
    ours: Stretches

    @property
    def both(self) -> Stretches:
        """Either of them."""
        return self.traced.joined(self.ours)


def of_ranks(members: Sequence[Member], clock: Clock) -> Interruptions:
    """Those of a training."""
    traced, ours = [], []
    for one in members if clock.unknown is None else ():
        place = clock.placements[one.rank]
        own = one.run.chosen("phase_intervals", "phase", (Phase.DLPROF,), ("start_ns", "dur_ns"))
        traced.append(place.placed(_ends(one.run.rows("kernel_windows"))))
        ours.append(place.placed(_ends(row for row in own if row["dur_ns"] > _OURS_NS)))
    return Interruptions(*(Stretches.of(np.concatenate(found) if found else ()) for found in (traced, ours)))


def _ends(rows: Iterable[dict[str, Any]]) -> Integers:
    """Begin and end of each row (ns), an array of two columns."""
    ends = [[row["start_ns"], row["start_ns"] + row["dur_ns"]] for row in rows]
    return np.array(ends, np.int64).reshape(-1, 2)
