"""Models that run operator by operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import SMALL, Planted, diagnosed, on, pick, quiet, slugs
from tests.unit.runs import S


def planted() -> Planted:
    """`run_eagerly`, and kernels in a tenth of the steps."""
    return Planted(quiet(spans=[runs.fit_span(training={"run_eagerly": True})], **runs.window(SMALL)), on("tensorflow"))


def test_an_eager_model_is_named(tmp_path: Path) -> None:
    """Kernels run in a tenth of the step: 85 % of the rest is at stake, and 70 % of what a graph would join."""
    finding = pick(planted().diagnosis(tmp_path), "eager-execution")

    assert finding.at_stake_ns == pytest.approx(0.85 * 5.4 * S + 0.7 * 0.6 * S, rel=0.01)
    assert finding.basis == "estimated"
    assert finding.remedy is not None
    assert finding.remedy.overrides["run_eagerly"] is False


def test_a_model_on_torch_is_eager_by_nature(tmp_path: Path) -> None:
    """There is nothing to switch off."""
    tables = quiet(spans=[runs.fit_span(training={"run_eagerly": True})])

    assert "eager-execution" not in slugs(diagnosed(tmp_path / "r", **tables))
