"""Calls for a few rows each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import S

LOOP = "for row in rows:\n    p = model.predict(row)\n"


def predicting(rows: int, calls: int = 100) -> Tables:
    """So many calls of predict at one line, of 4 s in all, with so many rows each; a fit of 2 s before them."""
    each = 4 / calls
    spans = [
        runs.span("predict", 4 + n * each, 4 + (n + 1) * each, span_id=9 + n, line=2, name="predict")
        for n in range(calls)
    ]
    steps = [
        {**row, "loop": "predict", "loop_id": 9 + n, "samples": rows}
        for n, row in enumerate(runs.steps(calls, start_s=4, dur_ms=1000 * each))
    ]
    phases = [
        {"phase": "import", "parent": None, "dur_ns": 2 * S, "count": 1},
        *runs.phases(fit_steps=2, predict=4, teardown=2),
    ]
    whole = [("import", 0, 2), ("fit.steps", 2, 4), ("predict", 4, 8), ("teardown", 8, 10)]
    fit = {**runs.fit_span(), "dur_ns": 2 * S}
    return quiet(
        phases=phases, phase_intervals=runs.intervals(*whole), spans=[fit, *spans], steps=[*runs.steps(100), *steps]
    )


def test_predict_of_one_row_at_a_time_is_named_with_its_line(tmp_path: Path) -> None:
    """A batch of 32 would save 31 of 32 calls."""
    finding = pick(diagnosed(tmp_path / "r", **predicting(1)), "dispatch-bound")

    assert finding.claim.startswith("predict was called 100 times for 1 row each, 40.00 ms a call")
    assert finding.at_stake_ns == pytest.approx(4 * S * 31 / 32, rel=0.01)
    assert finding.line == 2


def test_predict_of_whole_batches_and_a_few_calls_are_no_cause(tmp_path: Path) -> None:
    """Batches of 32; ten calls."""
    assert "dispatch-bound" not in slugs(diagnosed(tmp_path / "a", **predicting(32)))
    assert "dispatch-bound" not in slugs(diagnosed(tmp_path / "b", **predicting(1, calls=10)))
