"""Sequences of which all is computed anew for each piece."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, Planted, parts, pick, quiet, sampled, slugs
from tests.unit.runs import S

SCRIPT = """\
def write(model, notes):
    while notes.shape[1] < 288:
        logits = model(notes)
        notes = torch.cat([notes, logits[:, -1:].argmax(-1)], 1)
    return notes
"""
RUNS: list[Call] = [("write", "train.py", 3), ("forward", "torch/nn/modules/linear.py", 9)]
COMPILES: list[Call] = [*RUNS, ("compile", "torch/_dynamo/convert_frame.py", 9)]
TRAINS: list[Call] = [*RUNS, ("_engine_run_backward", "torch/autograd/graph.py", 9)]


def writing(inner: list[Call] = RUNS, source: str = SCRIPT) -> Planted:
    """3 s of training, then 3 s in which line 3 of the script stands, 30 times seen."""
    row = {"file": "train.py", "function": "write", "first_line": 1, "line": 3, "hits": 272, "time_ns": 3 * S}
    stood = sampled(*((5 + n / 10, 5.1 + n / 10, inner) for n in range(30)))
    times = runs.intervals(("import", 0, 2), ("fit.steps", 2, 5), ("script", 5, 8), ("teardown", 8, 10))
    phases = parts(fit_steps=3, script=3, teardown=2)
    return Planted(quiet(phases=phases, phase_intervals=times, lines=[row], **stood), source=source)


def test_four_fifths_of_what_stood_below_the_call_are_at_stake(tmp_path: Path) -> None:
    """Of 3 s; the sequence is named, and a cache advised."""
    finding = pick(writing().diagnosis(tmp_path), "repeated-forward")

    assert finding.heading == "A model ran anew over all of a sequence for each new piece"
    assert finding.at_stake_ns == pytest.approx(2.4 * S, rel=0.01)
    assert "all of notes each time a piece is put to it, 3.00 s in all" in finding.claim
    assert finding.line == 3
    assert "the newest piece of notes" in finding.next_step


@pytest.mark.parametrize("inner", [COMPILES, TRAINS], ids=["compiling", "training"])
def test_what_is_compiled_or_trained_for_each_piece_is_another_cause(inner: list[Call], tmp_path: Path) -> None:
    """Shapes that are new each time; a model that is trained on what was chosen so far."""
    assert "repeated-forward" not in slugs(writing(inner).diagnosis(tmp_path))


def test_a_model_that_is_given_the_newest_piece_only_is_none(tmp_path: Path) -> None:
    """With a cache."""
    cached = SCRIPT.replace("model(notes)", "model(notes[:, -1:], cache)")

    assert "repeated-forward" not in slugs(writing(source=cached).diagnosis(tmp_path))
