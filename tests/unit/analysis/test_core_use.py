"""Every core over a run."""

from __future__ import annotations

from dlprof.analysis import core_use
from dlprof.analysis.core_use import Cores, CoreUse
from tests.unit.runs import table


def test_core_strips_weigh_samples_by_the_time_they_cover() -> None:
    """One second at 100 percent and one at 0, in two parts; the mean is 50."""
    rows = [{"time_ns": t, "interval_ns": 1000, "core": 0, "busy_pct": b} for t, b in ((1000, 100.0), (2000, 0.0))]

    found = core_use.of_pieces(lambda: [table("cores", rows)], 2).cores[0]

    assert (found.mean_pct, found.strip) == (50.0, (100.0, 0.0))


def test_a_core_without_a_sample_has_no_figure() -> None:
    """Not 0."""
    rows = [{"time_ns": 1000, "interval_ns": 1000, "core": 0, "busy_pct": None}]

    assert core_use.of_pieces(lambda: [table("cores", rows)], 2) == Cores((CoreUse(0, None, (None, None)),), 1000)
    assert core_use.of_pieces(list, 2) == Cores((), None)


def test_a_part_of_the_run_without_samples_is_blank() -> None:
    """The first half was not measured."""
    rows = [{"time_ns": 2000, "interval_ns": 1000, "core": 3, "busy_pct": 40.0}]

    assert core_use.of_pieces(lambda: [table("cores", rows)], 2).cores == (CoreUse(3, 40.0, (None, 40.0)),)


def test_pieces_give_what_the_whole_gives() -> None:
    """Four seconds of two cores, cut anywhere; the last sample of all sets the end of the strips."""
    rows = [{"time_ns": n, "interval_ns": 1000, "core": c, "busy_pct": 10.0 * c + n / 1000} for n in (1000, 2000, 3000, 4000)
            for c in (1, 0)]  # fmt: skip
    whole = core_use.of_pieces(lambda: [table("cores", rows)], 4)
    assert whole.cores[0] == CoreUse(0, 2.5, (1.0, 2.0, 3.0, 4.0))
    assert whole.cores[1] == CoreUse(1, 12.5, (11.0, 12.0, 13.0, 14.0))
    for cut in range(len(rows)):
        assert core_use.of_pieces(lambda: [table("cores", rows[:cut]), table("cores", rows[cut:])], 4) == whole  # noqa: B023


def test_a_long_sample_lies_in_all_parts_that_it_covers() -> None:
    """One of 4 s in four parts, behind which another one begins."""
    rows = [{"time_ns": 4000, "interval_ns": 4000, "core": 0, "busy_pct": 30.0}]
    assert core_use.of_pieces(lambda: [table("cores", rows)], 4).cores[0].strip == (30.0, 30.0, 30.0, 30.0)
