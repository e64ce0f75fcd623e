"""Use of the machine."""

from __future__ import annotations

from dlprof.analysis import utilisation
from tests.unit.runs import table


def test_core_strips_weigh_samples_by_the_time_they_cover() -> None:
    """One second at 100 percent and one at 0, in two parts; the mean is 50."""
    rows = [{"time_ns": t, "interval_ns": 1000, "core": 0, "busy_pct": b} for t, b in ((1000, 100.0), (2000, 0.0))]

    found = utilisation.cores(table("cores", rows), 2)[0]

    assert (found.mean_pct, found.strip) == (50.0, (100.0, 0.0))
