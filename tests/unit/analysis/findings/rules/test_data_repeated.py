"""Epochs that go over the same data several times."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, diagnosed, pick, quiet, slugs
from tests.unit.runs import S


def planted(batches: int = 320, views: int = 320, distinct: int = 20) -> Planted:
    """An epoch of 320 steps over 20 batches."""
    passed = {"batches": batches, "views": views, "distinct": distinct}
    return Planted(quiet(spans=[runs.fit_span(passed=passed)]))


def test_an_epoch_that_passes_each_batch_many_times_is_named(tmp_path: Path) -> None:
    """15 of 16 steps; it is said as surely as one can who does not know what was meant."""
    finding = pick(planted().diagnosis(tmp_path), "data-repeated")

    assert finding.at_stake_ns == pytest.approx(6 * S * 15 / 16, rel=0.01)
    assert "20 places" in finding.claim
    assert "about 16 times" in finding.claim
    assert finding.fix == "steps_per_epoch=20: once over the data that the first epoch was given"
    assert 0.5 <= finding.confidence < 0.8


@pytest.mark.parametrize(
    ("batches", "views", "distinct"), [(320, 320, 320), (320, 320, 200), (320, 100, 5), (20, 20, 1), (320, 0, 0)]
)
def test_other_epochs_are_not(tmp_path: Path, batches: int, views: int, distinct: int) -> None:
    """Each batch once, or a few again; batches made anew; too few; none that tells."""
    found = diagnosed(tmp_path / "r", **planted(batches, views, distinct).tables)

    assert "data-repeated" not in slugs(found)
