"""Times that grow in their order."""

from __future__ import annotations

import numpy as np
import pytest

from dlprof.analysis.findings import growth
from dlprof.analysis.findings.growth import Growth


def test_what_grows_is_told_with_what_it_costs_beyond_the_first() -> None:
    """100 times from 0 ns on: the first quarter of the first fifth is 4.75 ns."""
    grown = growth.of_times(np.arange(100))

    assert grown is not None
    assert grown == Growth(100, 9, 89, 4488, grown.rank)
    assert grown.rank == pytest.approx(1.0)


def test_few_times_and_one_jump_tell_nothing() -> None:
    """Nineteen are too few; a jump is no growth."""
    assert growth.of_times(np.arange(19)) is None
    assert growth.of_times(np.repeat([10, 40], 50)) is None


def test_of_a_few_the_last_third_is_held_against_the_first() -> None:
    """Six setups from 100 to 200 ns; half of that is lost; less than five tell nothing, nor does one that is longer."""
    grown = growth.of_few(np.array([100, 120, 140, 160, 180, 200]))

    assert grown is not None
    assert grown == Growth(6, 110, 190, 300, grown.rank)
    assert growth.of_few(np.array([100, 150, 200, 250])) is None
    assert growth.of_few(np.array([100, 100, 300, 100, 100, 100])) is None
