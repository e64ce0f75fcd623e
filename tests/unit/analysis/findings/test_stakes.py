"""Between what a cause costs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlprof.analysis.findings import stakes
from dlprof.schema.vocabulary import Ground
from tests.unit.analysis.findings.cases import pick
from tests.unit.analysis.findings.rules import test_input_bound
from tests.unit.runs import S

EXAM = Path(__file__).parents[4] / "docs" / "exam.md"


def test_the_interval_is_that_of_its_like(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half to twice as much, but no more than the whole run."""
    monkeypatch.setattr(stakes, "RATIOS", {Ground.PLACE: (0.5, 2.0)})

    assert stakes.interval(Ground.PLACE, 2 * S, 10 * S) == (S, 4 * S)
    assert stakes.interval(Ground.PLACE, 8 * S, 10 * S) == (4 * S, 10 * S)


def test_what_claims_no_time_has_no_interval() -> None:
    """Memory that grows."""
    assert stakes.interval(Ground.STATED, 0, 10 * S) is None


def test_a_finding_of_one_run_has_an_interval(tmp_path: Path) -> None:
    """That of the evidence that told it."""
    finding = pick(test_input_bound.planted().diagnosis(tmp_path), "input-bound")

    assert finding.interval_ns == stakes.interval(finding.ground, finding.at_stake_ns, 10 * S)


@pytest.mark.parametrize("ground", Ground)
def test_each_kind_of_evidence_has_one_around_what_was_told(ground: Ground) -> None:
    """Causes cost less than was told, and more."""
    low, high = stakes.RATIOS[ground]

    assert 0 <= low < 1 < high


def test_the_manual_has_the_figures_that_are_used() -> None:
    """A row for each kind, or for two of them."""
    rows = re.findall(r"^\| ([a-z, ]+) \| \d+ \| ([\d.]+) to ([\d.]+)", EXAM.read_text(encoding="utf-8"), re.MULTILINE)
    told = {Ground(kind): (float(low), float(high)) for kinds, low, high in rows for kind in kinds.split(", ")}

    assert told == stakes.RATIOS
