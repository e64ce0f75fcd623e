"""Whether memory grows with the steps of a training, by a slope (`slopes`), and what is never given back.

The traced process's own memory is looked at, without pages of files, and where that does not grow, the same of all
processes below it together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlprof.analysis import slopes
from dlprof.analysis.memory_series import MemorySeries
from dlprof.analysis.slopes import Least, Slope
from dlprof.store.run import Run

HOW = (
    "slope (Theil-Sen) of the traced process's memory (or of those below it) without file pages over the training's "
    "steps, their first quarter left out; 95 % interval by block bootstrap"
)
_LEAST = Least(16, 24, 1_500_000_000, few=6, few_rise=64 << 20)
ENOUGH = _LEAST.samples
"""Samples that tell a slope; of fewer it is told only where they leave no doubt."""
_LEAST_BYTES, _LEAST_SHARE = 16 << 20, 0.03
"""Less than this, and than this share of what there is, is no growth worth a word."""


@dataclass(frozen=True)
class Growth:
    """How memory went with the steps.

    Attributes:
        slope: In bytes.
        is_below: Whether it is the memory of the processes below, together, and not that of the traced one.
    """

    slope: Slope
    is_below: bool = False

    @property
    def bytes_per_step(self) -> float:
        """The slope."""
        return self.slope.per_step

    @property
    def kept_bytes(self) -> int:
        """By how much the lower envelope grew (bytes): what was never given back while it trained."""
        return int(self.slope.kept)

    @property
    def is_growing(self) -> bool:
        """Whether memory grows beyond doubt, from the beginning to the end, and by what is worth a word."""
        return self.slope.grows_by(max(_LEAST_BYTES, _LEAST_SHARE * self.slope.first))


def verdict(is_growing: bool | None, ci: tuple[float, float]) -> str:
    """What a slope with this interval amounts to, in a clause."""
    if is_growing:
        return "it grows"
    return "too little to matter, or not all the time" if ci[0] > 0 else "no growth beyond doubt"


def of_run(run: Run, series: MemorySeries) -> Growth:
    """The growth of a run's memory over the steps of its training: of the traced process, or of those below it.

    Those below are told of where they grow, and the traced one does not.

    Raises:
        NotMeasured: It has too few steps, or too few samples.
    """
    steps = slopes.steps_of_run(run)
    found = Growth(steps.slope(series.time_ns, series.own_bytes.astype(np.float64), _LEAST))
    if not found.is_growing and series.below_bytes.any():
        below = Growth(steps.slope(series.time_ns, series.below_bytes.astype(np.float64), _LEAST), is_below=True)
        return below if below.is_growing else found
    return found
