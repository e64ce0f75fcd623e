"""Calls for a few rows each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import S

LOOP = "for row in rows:\n    p = model.predict(row)\n"


def predicting(rows: int, calls: int = 100, in_step: float = 1.0) -> Tables:
    """So many calls of predict at one line, of 4 s in all, with so many rows each; a fit of 2 s before them.

    Of each call its step takes such a share.
    """
    each = 4 / calls
    spans = [
        runs.span("predict", 4 + n * each, 4 + (n + 1) * each, span_id=9 + n, line=2, name="predict")
        for n in range(calls)
    ]
    steps = [
        {**row, "loop": "predict", "loop_id": 9 + n, "samples": rows}
        for n, row in enumerate(runs.steps(calls, start_s=4, dur_ms=1000 * each * in_step))
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


def test_predict_that_is_mostly_not_its_step_is_named_whatever_its_rows(tmp_path: Path) -> None:
    """Of 100 calls for 32 rows the step takes a tenth; all but one are saved."""
    finding = pick(diagnosed(tmp_path / "r", **predicting(32, in_step=0.1)), "dispatch-bound")

    assert finding.claim.startswith(
        "predict was called 100 times for 32 rows each, 40.00 ms a call, of which its step takes 10 %: 3.56 s"
    )


def fitting(calls: int, *, steps: int = 1, rows: int = 1, around: float = 0.75) -> Tables:
    """So many calls of fit at one line, of 6 s in all; their steps take what is not around them."""
    each = 6 / calls
    spans = [
        {**runs.fit_span(), "span_id": n + 1, "start_ns": int((2 + n * each) * S), "dur_ns": int(each * S)}
        for n in range(calls)
    ]
    of_steps = [
        {**row, "loop_id": n + 1, "samples": rows}
        for n in range(calls)
        for row in runs.steps(steps, start_s=2 + n * each, dur_ms=1000 * each * (1 - around) / steps)
    ]
    return quiet(spans=spans, steps=of_steps)


def test_fits_of_one_step_are_named_with_their_line(tmp_path: Path) -> None:
    """Three quarters of 6 s are around the steps; of the steps themselves 31 of 32 are for want of a batch."""
    finding = pick(diagnosed(tmp_path / "r", **fitting(300)), "dispatch-bound")

    assert finding.heading == "fit was called for a step or two each time"
    assert finding.claim.startswith(
        "fit was called 300 times for 1.0 steps of 1 row each, 20.00 ms a call, of which the steps took 25 %"
    )
    assert finding.at_stake_ns == pytest.approx(6 * S * (0.75 + 0.25 * 31 / 32), rel=0.01)
    assert finding.line == 7


def test_fits_of_whole_batches_lose_only_what_is_around_them(tmp_path: Path) -> None:
    """A replay memory's batch of 64."""
    finding = pick(diagnosed(tmp_path / "r", **fitting(100, rows=64)), "dispatch-bound")

    assert finding.at_stake_ns == pytest.approx(6 * S * 0.75, rel=0.01)


def test_fits_of_many_steps_and_a_few_fits_are_trainings(tmp_path: Path) -> None:
    """Fifty steps each; ten folds."""
    titles = {one.heading for one in diagnosed(tmp_path / "a", **fitting(40, steps=50, rows=64)).findings}
    titles |= {one.heading for one in diagnosed(tmp_path / "b", **fitting(10)).findings}

    assert "fit was called for a step or two each time" not in titles
