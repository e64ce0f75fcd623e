"""Validation inside of fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, diagnosed, in_callbacks, on, parts, pick, quiet, slugs
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


@pytest.mark.parametrize(("asynchronous", "is_told"), [(True, False), (False, True)])
def test_waiting_for_what_the_training_had_queued_is_no_validation(
    asynchronous: bool, is_told: bool, tmp_path: Path
) -> None:
    """Of 2 s the first of 5 steps takes 1.6: an engine whose steps return early comes to it then."""
    tables = planted().tables
    of_tests = [{"loop": "test", "loop_id": 7, "step": n} for n in range(5)]
    times = [(6.0, 1.6), *((7.6 + 0.1 * n, 0.1) for n in range(4))]
    told = [
        {**tables["steps"][0], **one, "start_ns": int(at * S), "dur_ns": int(s * S)}
        for one, (at, s) in zip(of_tests, times, strict=True)
    ]
    found = diagnosed(
        tmp_path / "r", on("mxnet", asynchronous=asynchronous), **{**tables, "steps": [*tables["steps"], *told]}
    )

    assert ("validation-heavy" in slugs(found)) == is_told


def test_a_callback_that_calls_predict_is_no_validation(tmp_path: Path) -> None:
    """False before: advice was to validate every few epochs, in a training that does not validate."""
    called = in_callbacks(("on_train_batch_end", "train.py", 25), ("predict", "keras/src/trainer.py", 9))
    spans = [runs.fit_span(), runs.span("predict", 6, 8)]
    finding = pick(diagnosed(tmp_path / "r", **{**called, "spans": spans}), "validation-heavy")

    assert (finding.heading, finding.line) == ("A callback called predict during the training", 25)
    assert finding.claim.startswith("Callbacks called predict once inside fit and took 33 % of it:")
    assert finding.next_step.startswith("Call predict less often")
    assert finding.fix == "predict every n-th epoch, or for fewer rows"


@pytest.mark.parametrize(("compiled", "is_told"), [(5, True), (1, False)])
def test_calls_that_each_compile_are_told_to_keep_their_model(compiled: int, is_told: bool, tmp_path: Path) -> None:
    """A model that lasts compiles in its first call only."""
    called = in_callbacks(("on_epoch_end", "train.py", 25), ("predict", "keras/src/trainer.py", 9))
    predicts = [runs.span("predict", 6 + 0.4 * n, 6.4 + 0.4 * n, span_id=10 + n) for n in range(5)]
    compiles = [runs.span("graph_compile", 6.1 + 0.4 * n, 6.2 + 0.4 * n, span_id=20 + n) for n in range(compiled)]
    spans = [runs.fit_span(), *predicts, *compiles]
    finding = pick(diagnosed(tmp_path / "r", **{**called, "spans": spans}), "validation-heavy")

    assert finding.next_step.startswith("Each of these calls compiled its function anew") == is_told
    assert (finding.fix == "make the model once, before fit") == is_told


def test_functions_of_a_pipeline_are_no_model_that_is_made_anew(tmp_path: Path) -> None:
    """Keras makes a pipeline in each call of predict, and TensorFlow functions of it."""
    called = in_callbacks(("on_epoch_end", "train.py", 25), ("predict", "keras/src/trainer.py", 9))
    predicts = [runs.span("predict", 6 + 0.4 * n, 6.4 + 0.4 * n, span_id=10 + n) for n in range(5)]
    name = "trace Dataset_map_grab_batch"
    made = [runs.span("graph_compile", 6.1 + 0.4 * n, 6.2 + 0.4 * n, span_id=20 + n, name=name) for n in range(5)]
    finding = pick(
        diagnosed(tmp_path / "r", **{**called, "spans": [runs.fit_span(), *predicts, *made]}), "validation-heavy"
    )

    assert finding.next_step.startswith("Call predict less often")


def test_what_only_the_first_call_takes_is_done_once(tmp_path: Path) -> None:
    """It takes 1.2 of the 2 s, those after it 0.2 s each: 1 s of it compiled what all of them run."""
    called = in_callbacks(("on_epoch_end", "train.py", 25), ("predict", "keras/src/trainer.py", 9))
    later = [runs.span("predict", 7.2 + 0.2 * n, 7.4 + 0.2 * n, span_id=11 + n) for n in range(4)]
    spans = [runs.fit_span(), runs.span("predict", 6, 7.2, span_id=10), *later]
    finding = pick(diagnosed(tmp_path / "r", **{**called, "spans": spans}), "validation-heavy")

    assert finding.at_stake_ns == pytest.approx(1 * S, rel=0.01)


def test_an_evaluation_on_another_thread_is_no_validation(tmp_path: Path) -> None:
    """False before: it was told as one at the line of a callback, whose own 2 s it was said to be."""
    called = in_callbacks(("on_epoch_end", "train.py", 25))
    script = runs.span("script", 0, 10, span_id=90, file=None, line=None)
    beside = runs.span("evaluate", 6, 8, thread_id=7, thread="evaluator")
    found = diagnosed(tmp_path / "r", **{**called, "spans": [script, runs.fit_span(), beside]})

    assert "validation-heavy" not in slugs(found)
    assert pick(found, "slow-callback").at_stake_ns == pytest.approx(2 * S, rel=0.01)
