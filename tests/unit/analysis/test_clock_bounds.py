"""What bounds at several moments say of an offset that drifts."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.analysis.clock_bounds import Bounds


def of(*rows: tuple[float, float, float]) -> Bounds:
    """Bounds of rows of a moment, the least and the greatest offset (ns)."""
    at, low, high = (np.array(column) for column in zip(*rows, strict=True))
    return Bounds(at, low, high)


def test_one_bound_leaves_every_drift_that_a_clock_may_have() -> None:
    """500 millionths, which is what is steered at most."""
    assert of((0, -10, 10)).drifts == (-500e-6, 500e-6)


def test_far_from_a_bound_a_drift_may_have_carried_the_offset_away() -> None:
    """A millisecond away it is 500 ns more."""
    assert of((0, -10, 10)).farthest(0, 0, 1e6) == pytest.approx(510)


def test_two_bounds_leave_the_drifts_between_them() -> None:
    """From 10 to -10 in a millisecond, or the other way round."""
    assert of((0, -10, 10), (1e6, -10, 10)).drifts == pytest.approx((-20e-6, 20e-6))


def test_between_two_bounds_the_offset_is_as_well_known_as_at_them() -> None:
    """Straight lines that pass through both stay within."""
    assert of((0, -10, 10), (1e6, -10, 10)).farthest(0, 0, 0.5e6) == pytest.approx(10)


def test_beyond_two_bounds_it_is_known_by_their_lines() -> None:
    """Twice as far the line from -10 to 10 has come to 30."""
    assert of((0, -10, 10), (1e6, -10, 10)).farthest(0, 0, 2e6) == pytest.approx(30)


def test_bounds_that_a_drift_fits_are_kept_by_it() -> None:
    """A hundred millionths: what is left is what each bound leaves."""
    bounds = of((0, -10, 10), (1e6, 90, 110), (2e6, 190, 210))
    assert bounds.offsets(100e-6) == pytest.approx((-10, 10))
    assert bounds.farthest(0, 100e-6, 1e6) == pytest.approx(10)


def test_bounds_that_no_line_keeps_tell_no_drift() -> None:
    """The error is the distance to the farther one, then."""
    bounds = of((0, -10, 10), (1e3, 90, 110), (2e3, -10, 10))
    assert bounds.drifts is None
    assert bounds.farthest(40, 0, 0) == pytest.approx(50)
