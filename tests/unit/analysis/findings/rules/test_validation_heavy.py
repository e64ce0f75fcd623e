"""Validation inside of fit."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, diagnosed, in_callbacks, parts, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """2 s of 6."""
    validation = ("fit.validation", 6, 8)
    return Planted(
        quiet(
            phases=parts(fit_steps=4, fit_validation=2, teardown=2),
            steps=runs.steps(200),
            phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), validation, ("teardown", 8, 10)),
            spans=[runs.fit_span(), runs.span("evaluate", 6, 8)],
        )
    )


def test_long_validation_is_named(tmp_path: Path) -> None:
    """2 s of 6."""
    assert pick(planted().diagnosis(tmp_path), "validation-heavy").at_stake_ns == 2 * S


def test_a_callback_that_calls_predict_is_no_validation(tmp_path: Path) -> None:
    """False before: advice was to validate every few epochs, in a training that does not validate."""
    called = in_callbacks(("on_train_batch_end", "train.py", 25), ("predict", "keras/src/trainer.py", 9))
    spans = [runs.fit_span(), runs.span("predict", 6, 8)]
    finding = pick(diagnosed(tmp_path / "r", **{**called, "spans": spans}), "validation-heavy")

    assert (finding.heading, finding.line) == ("A callback called predict during the training", 25)
    assert finding.claim.startswith("Callbacks called predict 1 times inside fit and took 33 % of it:")
    assert finding.next_step.startswith("Call predict less often")
