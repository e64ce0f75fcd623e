"""Whether memory grows with the steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlprof.analysis import memory_growth, memory_series, slopes
from dlprof.analysis.memory_growth import Growth
from tests.unit.analysis.memory_runs import MB, over_training

COUNT = 200
TIME = np.arange(COUNT) * 100_000_000
STEPS = np.linspace(0.0, 1990.0, COUNT)
NOISE = np.random.default_rng(7).normal(0, 0.2 * MB, COUNT)


def growth(own: Any) -> Growth:
    """Of memory over 200 samples and 1990 steps; 300 MB are there from the beginning."""
    return Growth(slopes.over_steps(TIME, STEPS, 300 * MB + np.asarray(own, float) + NOISE))


CLEAN = {
    "nothing happens": 0 * STEPS,
    "a sawtooth of the garbage collector": 100_000 * (STEPS % 290),
    "a sawtooth of few teeth": 100_000 * (STEPS % 1300),
    "a cache that ends": 100_000 * np.minimum(STEPS, 900),
    "a cache that ends late": 100_000 * np.minimum(STEPS, 1400),
    "a jump at once": 80 * MB * (STEPS > 1000),
    "memory that is given back": -50_000 * STEPS,
    "growth that is not worth a word": 3_000 * STEPS,
    "one peak": 200 * MB * (np.abs(STEPS - 1000) < 100),
    "a validation that takes memory for a while": 80 * MB * (STEPS % 500 > 420),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_ends_or_is_given_back_is_no_growth(name: str) -> None:
    """Whatever the slope."""
    assert growth(CLEAN[name]).is_growing is False


GROWING = {
    "with a sawtooth on top": 60_000 * STEPS + 50_000 * (STEPS % 290),
    "once an epoch": 20 * MB * (STEPS // 200),
    "slowly": 12_000 * STEPS,
    "faster and faster": 40 * STEPS**2,
}


@pytest.mark.parametrize("name", GROWING)
def test_growth_of_other_shapes_is_found(name: str) -> None:
    """Its interval is above zero."""
    found = growth(GROWING[name])

    assert found.is_growing is True
    assert found.slope.ci[0] > 0


def of_run(own: list[int], folder: Path, **tables: list[dict[str, Any]]) -> Growth:
    """Of a run of 500 steps."""
    run = over_training(own, folder / "r", **tables)
    series = memory_series.of_run(run)
    assert series is not None
    return memory_growth.of_run(run, series)


def test_the_first_quarter_of_the_steps_is_left_out(tmp_path: Path) -> None:
    """Allocators fill there: 400 MB until step 100, and nothing behind that."""
    found = of_run([min(4 * number, 80) * 5 * MB for number in range(100)], tmp_path)

    assert found.is_growing is False
    assert found.slope.steps == pytest.approx(370, abs=10)


def test_of_a_short_training_nothing_is_said(tmp_path: Path) -> None:
    """Not that it does not grow."""
    with pytest.raises(slopes.NotMeasured, match="fewer than 16 samples"):
        of_run([MB] * 15, tmp_path)


def test_without_steps_nothing_is_said(tmp_path: Path) -> None:
    """There is nothing that it could grow with."""
    with pytest.raises(slopes.NotMeasured, match="no steps of a training"):
        of_run([MB] * 100, tmp_path, steps=[])


@pytest.mark.parametrize(
    ("is_growing", "ci", "told"),
    [
        (True, (1.0, 2.0), "it grows"),
        (False, (1.0, 2.0), "too little to matter, or not all the time"),
        (False, (-1.0, 2.0), "no growth beyond doubt"),
    ],
)
def test_a_slope_beyond_doubt_is_not_called_doubtful(is_growing: bool, ci: tuple[float, float], told: str) -> None:
    """It may be too small, or end: that is another thing."""
    assert memory_growth.verdict(is_growing, ci) == told
