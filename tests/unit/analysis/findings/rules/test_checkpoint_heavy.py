"""Saves of the model."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, diagnosed, pick, quiet, slugs
from tests.unit.runs import MS


def planted() -> Planted:
    """Three saves of 0.3 s in callbacks."""
    saves = [runs.span("save", 7 + n * 0.3, 7.3 + n * 0.3, name="save", line=40) for n in range(3)]
    return Planted({"spans": [runs.fit_span(), *saves], **runs.window(KERNELS)})


def test_saves_in_callbacks_are_checkpoints(tmp_path: Path) -> None:
    """Three of 0.3 s."""
    diagnosis = planted().diagnosis(tmp_path)

    assert pick(diagnosis, "checkpoint-heavy").at_stake_ns == 900 * MS
    assert pick(diagnosis, "checkpoint-heavy").line == 40
    assert "slow-callback" not in slugs(diagnosis)


def test_a_model_saved_once_is_no_finding(tmp_path: Path) -> None:
    """One file at the end is what training is for."""
    tables = quiet(spans=[runs.fit_span(), runs.span("save", 7, 7.5)])

    assert slugs(diagnosed(tmp_path / "r", **tables)) == []


def test_saves_of_another_thread_hold_nothing_up(tmp_path: Path) -> None:
    """A thread of the script's writes files beside the training, of which the phases are."""
    script = runs.span("script", 0, 10, span_id=90, file=None, line=None)
    saves = [runs.span("save", 7 + n * 0.3, 7.3 + n * 0.3, thread_id=7, thread="writer") for n in range(3)]

    assert "checkpoint-heavy" not in slugs(diagnosed(tmp_path / "r", spans=[script, runs.fit_span(), *saves]))
