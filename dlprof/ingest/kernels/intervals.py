"""Named stretches of a run's timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dlprof.ingest.kernels.events import NONE, Integers


@dataclass(frozen=True)
class Intervals:
    """Stretches in order and without overlap (ns), each with a value."""

    starts: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    ends: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    values: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice) -> Intervals:
        return Intervals(self.starts[rows], self.ends[rows], self.values[rows])

    def at(self, time: Integers) -> Integers:
        """Position of the stretch around each time, or NONE."""
        if not len(self.starts):
            return np.full(len(time), NONE, np.int64)
        position = np.searchsorted(self.starts, time, "right") - 1
        safe = np.maximum(position, 0)
        return np.where((position >= 0) & (time < self.ends[safe]), position, NONE)
