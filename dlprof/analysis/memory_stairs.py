"""Whether memory grew in as many stairs as a line ran, as by what is kept of each epoch, or all the time between."""

from __future__ import annotations

import numpy as np

from dlprof.analysis.memory_growth import Growth
from dlprof.analysis.memory_series import MemorySeries

_OF_SAMPLES = 0.2
"""Stairs that may be in more of the times between samples cannot be told from a slope."""
_STAIRS, _SLOPE = 0.75, 0.5
"""Share of the growth that is in the stairs: from this on there are some, up to that there are none."""
_SAMPLES_EACH = 2
"""A stair may be cut in two by a sample."""


def are(series: MemorySeries, growth: Growth, hits: int, hits_of_steps: int) -> bool | None:
    """Whether memory grew in so many stairs; None: samples are too far apart to tell, or it is between the two.

    Args:
        series: The run's memory.
        growth: What is told of it.
        hits: How often the line ran in all of the run.
        hits_of_steps: How often a line of each step did.
    """
    inside = (series.time_ns >= growth.slope.begin_ns) & (series.time_ns <= growth.slope.end_ns)
    own = (series.below_bytes if growth.is_below else series.own_bytes)[inside]
    if len(own) < _SAMPLES_EACH:
        return None
    more = np.sort(np.diff(np.minimum.accumulate(own[::-1])[::-1]))[::-1]
    stairs = _SAMPLES_EACH * max(1, round(hits * growth.slope.steps / max(1, hits_of_steps)))
    whole = int(more.sum())
    if stairs > _OF_SAMPLES * len(more) or whole <= 0:
        return None
    share = float(more[:stairs].sum()) / whole
    return True if share >= _STAIRS else False if share <= _SLOPE else None
