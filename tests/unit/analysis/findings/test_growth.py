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


def test_single_times_that_are_long_by_chance_are_not_what_grows() -> None:
    """Ten of 100 take a thousand ns longer: 10,000 ns that are none of the growth's 4,500."""
    times = np.arange(100)
    times[5::10] += 1000
    grown = growth.of_times(times)

    assert grown is not None
    assert grown.lost_ns < 5_500


@pytest.mark.parametrize(("power", "levels_off"), [(1.0, False), (2.0, False), (0.5, False), (0.1, True)])
def test_what_grows_less_and_less_levels_off(power: float, levels_off: bool) -> None:
    """As the time itself, its square and its root do not."""
    grown = growth.of_times((1e6 * np.arange(1, 201) ** power - 9e5).astype(np.int64))

    assert grown is not None
    assert grown.levels_off is levels_off


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
