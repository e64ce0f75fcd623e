"""How a training scales with its ranks."""

from __future__ import annotations

import pytest

from dlprof.analysis import scaling
from dlprof.analysis.scaling import Times


def test_the_efficiency_of_strong_scaling_is_of_the_same_work() -> None:
    """10 s alone, 8 s with two ranks and 7 s with four: 1.25 and 1.43 times as fast."""
    found = scaling.of_runs({1: [Times(10)], 2: [Times(8)], 4: [Times(7)]}, "strong")
    assert found is not None
    assert [(one.ranks, one.speedup, one.efficiency, one.lost_s) for one in found.points] == [
        (1, 1.0, 1.0, 0.0),
        (2, 1.25, 0.625, 3.0),
        (4, pytest.approx(10 / 7), pytest.approx(10 / 28), 4.5),
    ]


def test_the_efficiency_of_weak_scaling_is_of_more_work_in_the_same_time() -> None:
    """Two ranks do twice the work in 12 s instead of 10."""
    found = scaling.of_runs({1: [Times(10)], 2: [Times(12)]}, "weak")
    assert found is not None
    assert found.points[1].efficiency == pytest.approx(10 / 12)
    assert found.points[1].lost_s == 2.0
    assert (found.law, found.forecast) == (None, None)


def test_the_law_is_found_again_in_times_that_it_made() -> None:
    """10 / n + 2 (n - 1) / n + 0.5 (n - 1): a serial share of 20 %, and its next doubling."""
    times = {n: [Times(10 / n + 2 * (n - 1) / n + 0.5 * (n - 1))] for n in (1, 2, 4)}
    found = scaling.of_runs(times, "strong")
    assert found is not None and found.law is not None and found.forecast is not None
    assert found.law.fixed_s == pytest.approx(2)
    assert found.law.each_s == pytest.approx(0.5)
    assert found.law.serial_share == pytest.approx(0.2)
    assert found.law.worst_s == pytest.approx(0, abs=1e-9)
    assert found.forecast.ranks == 8
    assert found.forecast.train_s == pytest.approx(10 / 8 + 2 * 7 / 8 + 3.5)
    assert found.forecast.efficiency == pytest.approx(1.25 / 6.5)
    assert found.forecast.gain == pytest.approx(5.5 / 6.5)


def test_no_part_of_the_law_is_below_nothing() -> None:
    """Two ranks lose, four lose no more than their ideal: the part that each rank adds is 0, not negative."""
    found = scaling.of_runs({1: [Times(8)], 2: [Times(6)], 4: [Times(2.5)]}, "strong")
    assert found is not None and found.law is not None
    assert found.law.each_s == 0.0
    assert found.law.fixed_s == pytest.approx((2 * 0.5 + 0.5 * 0.75) / (0.5**2 + 0.75**2))


def test_what_is_lost_is_told_by_part_and_sums_up() -> None:
    """Of 4 s beyond the ideal 5: input 1 beyond its ideal 1, wait 0.5, transfer 1, contention 1, the rest is work."""
    alone = Times(10, input=2, wait=0, transfer=0, contention=0)
    both = Times(9, input=2, wait=0.5, transfer=1, contention=1)
    found = scaling.of_runs({1: [alone], 2: [both]}, "strong")
    assert found is not None
    assert found.points[1].lost == {"input": 1.0, "wait": 0.5, "transfer": 1.0, "contention": 1.0, "work": 0.5}
    assert found.limited_by in ("input", "transfer", "contention")


def test_contention_explains_no_more_than_was_lost() -> None:
    """Main threads waited for 3 s, and 1 s of work was lost; kernels that were longer for that are not told again."""
    alone = Times(10, input=0, wait=0, transfer=0, contention=0, kernels=8)
    both = Times(6, input=0, wait=0, transfer=0, contention=3, kernels=5)
    found = scaling.of_runs({1: [alone], 2: [both]}, "strong")
    assert found is not None
    assert found.points[1].lost == {
        "input": 0.0, "wait": 0.0, "transfer": 0.0, "contention": 1.0, "kernels": 0.0, "host": 0.0,
    }  # fmt: skip


def test_waits_that_are_not_known_stay_with_the_work() -> None:
    """As with collectives inside compiled programs."""
    found = scaling.of_runs({1: [Times(10, input=0)], 2: [Times(8, input=1)]}, "strong")
    assert found is not None
    assert found.points[1].lost == {"input": 1.0, "rest": 2.0}


def test_from_three_runs_on_there_are_intervals() -> None:
    """They hold the efficiency; a training that scales well is not limited."""
    spread = (0.98, 1.0, 1.02)
    found = scaling.of_runs({n: [Times(10 / n * one) for one in spread] for n in (1, 2, 4)}, "strong")
    assert found is not None and found.forecast is not None and found.forecast.interval is not None
    assert found.points[0].interval is None
    low, high = found.points[1].interval or (0, 0)
    assert 0.9 < low < 1.0 < high < 1.1
    assert found.forecast.interval[0] <= found.forecast.efficiency <= found.forecast.interval[1] + 1e-9
    assert found.limited_by is None


def test_one_number_of_ranks_is_no_study() -> None:
    """Nothing is compared."""
    assert scaling.of_runs({2: [Times(8)], 4: []}, "strong") is None


def test_where_more_is_lost_than_the_smallest_run_takes_no_share_is_serial() -> None:
    """Four ranks take longer than one: that is no law of Amdahl's."""
    found = scaling.of_runs({1: [Times(1)], 2: [Times(1.5)], 4: [Times(1.8)]}, "strong")
    assert found is not None and found.law is not None
    assert found.law.fixed_s > 1
    assert found.law.serial_share is None
