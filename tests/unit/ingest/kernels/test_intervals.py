"""Stretches of the time line."""

from __future__ import annotations

import numpy as np

from dlprof.ingest.kernels.intervals import Intervals


def test_a_time_is_in_the_stretch_that_began_last_and_has_not_ended() -> None:
    """Ends do not belong to it; between two there is none."""
    intervals = Intervals(np.array([0, 20]), np.array([10, 30]), ["a", "b"])

    assert intervals.at(np.array([-1, 0, 9, 10, 20, 29, 30])).tolist() == [-1, 0, 0, -1, 1, 1, -1]


def test_without_stretches_no_time_is_in_one() -> None:
    """NONE for all."""
    assert (len(Intervals()), Intervals().at(np.array([5, 6])).tolist()) == (0, [-1, -1])
