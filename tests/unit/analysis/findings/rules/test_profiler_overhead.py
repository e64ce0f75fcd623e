"""What dlprof itself costs."""

from __future__ import annotations

from pathlib import Path

from tests.unit.analysis.findings.cases import Planted, parts, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """A tenth of the run."""
    return Planted(quiet(phases=parts(dlprof=1, fit_steps=6, teardown=1)))


def test_dlprofs_own_share_is_named(tmp_path: Path) -> None:
    """A profiler that takes a tenth of the run says so."""
    assert pick(planted().diagnosis(tmp_path), "profiler-overhead").at_stake_ns == S
