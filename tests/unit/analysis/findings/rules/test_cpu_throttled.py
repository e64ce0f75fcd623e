"""Quotas, and hosts of virtual machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.analysis.findings.cases import BEGIN, BUSY, Planted, cpu, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """The control group was held back for 3 s."""
    return Planted(quiet(**cpu((2.5, BEGIN), (7.5, BUSY), throttled_ns=3 * S)))


def test_a_quota_is_named(tmp_path: Path) -> None:
    """The control group was held back for 3 s."""
    assert pick(planted().diagnosis(tmp_path), "cpu-throttled").at_stake_ns == pytest.approx(3 * S, rel=0.01)
