"""The run's clock inside the traced process."""

from __future__ import annotations

import pytest
from dlprof_probes.inproc import clock


def test_an_anchor_is_the_closest_pair_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock between the two nearest readings of the run's clock."""
    readings = iter([100, 190, 200, 204, 300, 390])
    walls = iter([1.0, 2.0, 3.0])
    monkeypatch.setattr(clock, "now", lambda: next(readings))
    monkeypatch.setattr(clock, "_time", lambda: next(walls))

    assert clock.anchor(tries=3) == {"perf_ns": 202, "wall_ns": 2_000_000_000, "width_ns": 4}


def test_the_clock_of_python_3_6_counts_nanoseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own one counts seconds."""
    monkeypatch.setattr(clock, "_perf_counter", lambda: 1.5)

    assert clock._perf_counter_ns_36() == 1_500_000_000
