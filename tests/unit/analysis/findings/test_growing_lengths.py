"""Models whose input is seen to grow call by call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, parts, pick, quiet, sampled, slugs
from tests.unit.analysis.test_growing_inputs import sequence
from tests.unit.runs import S

SCRIPT = """\
def write(model, notes):
    for _ in range(99):
        scores = model(notes)
        following = (scores[:, -1].cumsum(-1) < draw()).sum(-1)
        notes = torch.cat([notes, following], 1)
    return notes
"""
STUDY = """\
def study(model, notes):
    for length in range(99):
        scores = model(torch.zeros(1, length))
"""
TIMES = {length: 1.0 + 0.5 * length for length in range(1, 100)}
"""2.574 s; 99 calls of one piece take 148.5 ms."""


def writing(*sequences: dict[str, Any], source: str = SCRIPT) -> Planted:
    """3 s of training, then 3 s of the script in which a model is called."""
    row = {"file": "train.py", "function": "write", "first_line": 1, "line": 3, "hits": 99, "time_ns": 3 * S}
    times = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("script", 5, 8), ("teardown", 8, 10))
    phases = parts(fit_steps=3, script=3, teardown=2)
    spans = [{**one, "span_id": n, "line": 3} for n, one in enumerate(sequences, 10)]
    return Planted(quiet(phases=phases, phase_intervals=times, lines=[row], spans=spans), source=source)


def planted() -> Planted:
    """A sequence of 100 calls."""
    return writing(sequence(5, TIMES))


def test_what_the_earlier_pieces_take_is_at_stake(tmp_path: Path) -> None:
    """By the times from call to call; the source shows that what is given back is put to it."""
    finding = pick(planted().diagnosis(tmp_path), "repeated-forward")

    assert finding.heading == "A model ran anew over all of a sequence for each new piece"
    assert finding.at_stake_ns == pytest.approx((2574 - 148.5) / 1000 * S, rel=0.01)
    assert "Model runs over all of notes for each new piece: 100 calls in 1 sequence" in finding.claim
    assert "whose input grows from 1 to 100 by 1 each time" in finding.claim
    assert (finding.file, finding.line) == ("train.py", 3)
    assert "use_cache=True" in finding.next_step
    assert finding.confidence > 0.8


def test_where_the_source_does_not_show_it_is_a_question(tmp_path: Path) -> None:
    """It may be a study of lengths."""
    finding = pick(writing(sequence(5, TIMES), source=STUDY).diagnosis(tmp_path), "repeated-forward")

    assert finding.confidence < 0.5
    assert "over all of a sequence" in finding.claim


@pytest.mark.parametrize(
    "times",
    [
        {length: 20.0 + (length % 2) for length in range(1, 100)},
        {length: 0.01 * length for length in range(1, 100)},
    ],
    ids=["state carried", "little"],
)
def test_times_that_do_not_grow_and_little_time_are_no_cause(times: dict[int, float], tmp_path: Path) -> None:
    """A fused kernel, or one that the start of each call hides."""
    assert "repeated-forward" not in slugs(writing(sequence(5, times)).diagnosis(tmp_path))


def test_what_is_computed_behind_the_calls_is_estimated(tmp_path: Path) -> None:
    """100 calls started it in 0.1 s, a line behind them waited 2.4 s: of 2.5 s four fifths, but for one piece of 50."""
    waits = {
        "what": "asnumpy()",
        "file": "train.py",
        "line": 6,
        "calls": 1,
        "dur_ns": round(2.4 * S),
        "start_ns": round(5.2 * S),
        "end_ns": round(7.6 * S),
    }
    tables = writing(sequence(5, dict.fromkeys(range(1, 100), 100 / 99)))
    finding = pick(Planted({**tables.tables, "syncs": [waits]}, source=SCRIPT).diagnosis(tmp_path), "repeated-forward")

    assert finding.at_stake_ns == pytest.approx(0.8 * 2.5 * (1 - 1 / 50.5) * S, rel=0.01)
    assert "2.50 s in all" in finding.claim
    assert finding.confidence < 0.8


def test_a_place_whose_times_are_known_not_to_grow_is_not_told_by_its_source(tmp_path: Path) -> None:
    """The stacks stand below the call for 3 s, and each call takes 30 ms, whatever its length."""
    stood = sampled(
        *((5 + n / 10, 5.1 + n / 10, [("write", "train.py", 3), ("forward", "torch/f.py", 9)]) for n in range(30))
    )
    chosen = SCRIPT.replace("(scores[:, -1].cumsum(-1) < draw()).sum(-1)", "scores[:, -1].argmax(-1)")
    tables = writing(sequence(5, {length: 30.0 + 0.1 * (length % 2) for length in range(1, 100)}), source=chosen).tables
    without = {**tables, **stood, "spans": []}

    assert "repeated-forward" in slugs(Planted(without, source=chosen).diagnosis(tmp_path / "without"))
    assert "repeated-forward" not in slugs(Planted({**tables, **stood}, source=chosen).diagnosis(tmp_path / "with"))


def test_predictions_of_a_callback_are_told_once(tmp_path: Path) -> None:
    """What the length costs is no validation: that has the rest of them."""
    calls = [runs.span("predict", 5 + n * 0.03, 5 + n * 0.03 + 0.025, span_id=100 + n) for n in range(99)]
    fit = runs.span("fit", 2, 8, span_id=1, line=9)
    phases = parts(fit_steps=3, fit_callbacks=3, teardown=2)
    times = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("fit.callbacks", 5, 8), ("teardown", 8, 10))
    tables = quiet(phases=phases, phase_intervals=times, steps=runs.steps(150))
    alone = Planted({**tables, "spans": [fit, *calls]}).diagnosis(tmp_path / "alone")
    grown = Planted({**tables, "spans": [fit, *calls, sequence(5, TIMES, span_id=9)]}).diagnosis(tmp_path / "grown")

    assert pick(alone, "validation-heavy").at_stake_ns > 2 * S
    assert pick(grown, "repeated-forward").at_stake_ns > 2 * S
    assert "validation-heavy" not in slugs(grown)


def test_an_evaluation_that_writes_a_text_is_told_once(tmp_path: Path) -> None:
    """Found between `model.eval()` and `model.train()`: nothing of it is left to be told as validation."""
    evaluation = runs.span("evaluate", 5, 5 + 2.6, span_id=100)
    fit = runs.span("fit", 2, 8, span_id=1, line=9)
    phases = parts(fit_steps=3, fit_validation=3, teardown=2)
    times = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("fit.validation", 5, 8), ("teardown", 8, 10))
    tables = quiet(phases=phases, phase_intervals=times, steps=runs.steps(150))
    alone = Planted({**tables, "spans": [fit, evaluation]}).diagnosis(tmp_path / "alone")
    grown = Planted({**tables, "spans": [fit, evaluation, sequence(5, TIMES, span_id=9)]}).diagnosis(tmp_path / "grown")

    assert "validation-heavy" in slugs(alone)
    assert "validation-heavy" not in slugs(grown)
    assert pick(grown, "repeated-forward").at_stake_ns > 2 * S
