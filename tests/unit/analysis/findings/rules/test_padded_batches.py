"""Batches that are filled up to a length which no row of them has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import S

TOLD = runs.manifest()


def filled(in_all: float, *layers: str, batches: int = 8, of_rows: float = 0.8) -> Tables:
    """300 steps of 6 s with a model of such layers, and batches of 200 columns."""
    told = {"batches": batches, "length": 200.0, "in_all": in_all, "of_rows": of_rows}
    model = {"layers": [{"name": name.lower(), "class": name} for name in layers], "models": []}
    detail = json.dumps({"padding": told, "model": model})
    return quiet(spans=[runs.span("fit", 2, 8, name="fit", span_id=1, detail=detail)])


def planted() -> Planted:
    """Half of the columns."""
    return Planted(filled(0.5, "Embedding", "LSTM"), TOLD)


def test_the_share_of_columns_that_no_row_needs_is_at_stake(tmp_path: Path) -> None:
    """Half of the 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "padded-batches")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert "Of 200 columns of a batch 50 % are padding in every row of it, and 80 %" in finding.claim


@pytest.mark.parametrize(
    "tables",
    [
        filled(0.1, "Embedding", "LSTM", of_rows=0.3),  # all rows of a batch are nearly as long
        filled(0.5, "Dense", "Dense"),  # counts of words, of which many are 0
        filled(0.5, "Embedding", "LSTM", batches=2),  # too few were seen
    ],
)
def test_columns_that_are_needed_or_no_sequence_are_nothing(tables: Tables, tmp_path: Path) -> None:
    """Nor is what was hardly looked at."""
    assert "padded-batches" not in slugs(diagnosed(tmp_path / "r", TOLD, **tables))


def test_rows_of_very_different_lengths_are_told_to_go_by_length(tmp_path: Path) -> None:
    """A batch has one of 200 words among many of 40: four fifths of its padding go where lengths are alike."""
    tables = filled(0.05, "Embedding", "LSTM", of_rows=0.75)
    finding = pick(diagnosed(tmp_path / "r", TOLD, **tables), "padded-batches")

    assert finding.at_stake_ns == pytest.approx(0.6 * 6 * S, rel=0.01)
    assert (
        "of its 200 columns one row or another needs 95 %, but 75 % of all that they hold is padding" in finding.claim
    )
    assert finding.fix is not None
    assert "sorted(" in finding.fix
