"""GPUs that lower their clocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """Half of the samples at half of the clock, for its power cap."""
    slow = {"gpu": 0, "sm_clock_mhz": 1000.0, "throttle_reasons": 4}
    fast = {"gpu": 0, "sm_clock_mhz": 2000.0, "throttle_reasons": 0}
    gpu = [{"time_ns": n * S, **(fast if n % 2 else slow)} for n in range(10)]
    return Planted(quiet(**runs.window(GPU), gpu=gpu))


def test_a_throttled_gpu_is_named(tmp_path: Path) -> None:
    """Half of the samples at half of the clock, for its power cap."""
    finding = pick(planted().diagnosis(tmp_path), "gpu-throttled")

    assert finding.at_stake_ns == pytest.approx(0.25 * 2.4 * S, rel=0.01)
