"""How something goes with the steps of a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlprof.analysis import slopes
from dlprof.analysis.slopes import Least, NotMeasured, Steps
from tests.unit.runs import S, steps, trained

TIME = np.arange(200) * 100_000_000
STEPS = np.linspace(0.0, 1990.0, 200)
NOISE = np.random.default_rng(7).normal(0, 2.0, 200)


def test_a_slope_has_its_interval_and_what_is_kept() -> None:
    """One more with each step."""
    found = slopes.over_steps(TIME, STEPS, 300 + STEPS + NOISE)

    assert found.per_step == pytest.approx(1.0, rel=0.01)
    assert 0.98 < found.ci[0] < 1.0 < found.ci[1] < 1.02
    assert (found.steps, found.begin_ns, found.end_ns) == (1990, 0, 19_900_000_000)
    assert found.first == pytest.approx(340, abs=5)
    assert found.last == pytest.approx(2257, abs=5)
    assert found.kept == pytest.approx(1990, abs=10)
    assert found.is_steady is True


def test_without_noise_the_interval_is_the_slope() -> None:
    """Counts are exact."""
    assert slopes.over_steps(TIME, STEPS, 2 * STEPS).ci == (2.0, 2.0)


@pytest.mark.parametrize(
    ("values", "least", "grows"),
    [
        (STEPS, 1000, True),
        (STEPS, 2000, False),
        (np.minimum(STEPS, 900), 100, False),
        (1000.0 * (STEPS > 1000), 100, False),
        (-STEPS, 0, False),
    ],
)
def test_it_grows_where_each_third_of_the_steps_has_its_part(values: Any, least: float, grows: bool) -> None:
    """And by enough: what ends, jumps or falls does not."""
    assert slopes.over_steps(TIME, STEPS, values).grows_by(least) is grows


def test_the_steps_of_a_run_begin_behind_its_first_quarter(tmp_path: Path) -> None:
    """250 steps of 20 ms from 2 s on: the 63rd is the first."""
    found = slopes.steps_of_run(trained(tmp_path / "r"))

    assert (found.time_ns[0], found.done[0]) == (3_260_000_000, 63)
    assert (found.time_ns[-1], found.done[-1]) == (7_000_000_000, 250)


def test_what_is_compiled_in_the_first_half_belongs_to_the_warm_up(tmp_path: Path) -> None:
    """Step 100 was."""
    rows = steps(250)
    rows[99]["compiled"] = True

    assert slopes.steps_of_run(trained(tmp_path / "r", steps=rows)).done[0] == 100


def test_samples_outside_of_the_steps_are_left_out() -> None:
    """They may be of what comes before and after."""
    found = Steps(np.array([2 * S, 8 * S]), np.array([0, 600])).slope(
        np.arange(10) * S, np.array([9.0, 9, 2, 3, 4, 5, 6, 7, 8, 0]), Least(5, 24, S, "too short")
    )

    assert found.per_step == pytest.approx(0.01)
    assert (found.steps, found.first, found.last) == (600, 2.0, 8.0)


def test_of_too_few_samples_nothing_is_told() -> None:
    """The clause says why."""
    with pytest.raises(NotMeasured, match="too short"):
        Steps(np.array([0, 8 * S]), np.array([0, 600])).slope(
            np.arange(4) * S, np.ones(4), Least(5, 24, S, "too short")
        )


FEW = Least(16, 24, S, few=6, few_rise=100.0)


def few(values: list[float]) -> Any:
    """The slope of these, a second apart, over 1000 steps."""
    last = (len(values) - 1) * S
    return Steps(np.array([0, last]), np.array([0, 1000])).slope(np.arange(len(values)) * S, np.array(values), FEW)


def test_few_samples_are_enough_where_they_lie_on_one_line() -> None:
    """Seven of them, 60 more each time."""
    found = few([60.0 * number for number in range(7)])

    assert (found.per_step, found.samples) == (pytest.approx(0.36), 7)


@pytest.mark.parametrize(
    "values",
    [
        [300.0] * 8,
        [10.0 * number for number in range(8)],
        [0, 100, 200, 300, 400, 400, 400, 400],
        [0, 0, 0, 400, 400, 400, 400, 400],
        [0, 200, 50, 300, 100, 400, 150, 500],
        [100.0 * number for number in range(5)],
    ],
    ids=["flat", "little", "ends", "a jump", "noise", "too few"],
)
def test_few_samples_tell_nothing_where_any_doubt_is_left(values: list[float]) -> None:
    """It is not said that nothing grows, either."""
    with pytest.raises(NotMeasured, match=r"fewer than 16 samples \(\d\) are left behind the warm-up"):
        few(values)


@pytest.mark.parametrize(
    ("samples", "steps", "seconds", "told"),
    [
        (5, 600, 8, ("fewer than 16 samples (5) are left behind the warm-up, over 600 steps in 8.0 s; --cores-hz 10, or a "
                    "machine with a core to spare, gives more")),
        (20, 12, 8, "fewer than 24 steps (12) are left behind the warm-up, over 12 steps in 8.0 s"),
        (5, 600, 0.5, ("fewer than 16 samples (5) and less than 1.0 s (0.5 s) are left behind the warm-up, over 600 steps "
                      "in 0.5 s")),
    ],
)  # fmt: skip
def test_why_nothing_is_told_has_the_condition_and_its_figures(
    samples: int, steps: int, seconds: float, told: str
) -> None:
    """And what would give more, where it is samples alone."""
    time = np.linspace(0, seconds * S, samples).astype(np.int64)
    with pytest.raises(NotMeasured) as why:
        Steps(np.array([0, int(seconds * S)]), np.array([0, steps])).slope(time, np.ones(samples), FEW)

    assert str(why.value) == told


def test_a_run_without_steps_has_none(tmp_path: Path) -> None:
    """Not a slope of 0."""
    with pytest.raises(NotMeasured, match="no steps of a training"):
        slopes.steps_of_run(trained(tmp_path / "r", steps=[]))
