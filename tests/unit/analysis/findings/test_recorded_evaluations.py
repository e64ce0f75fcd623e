"""Evaluations that record graphs in vain."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.recorded_evaluations import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet, sampled

SOURCE = """def validate():
    net.eval()
    outputs = [net(part) for part in parts]
    net.train()
    return outputs
validate()
"""
FORWARD = ("Linear.forward", "torch/nn/modules/linear.py", 9)


def told(path: Path, source: str = SOURCE, *, engine: str = "torch", line: int = 3, seconds: float = 2) -> list[Claim]:
    """The claims of a run that stands in a forward pass under a line."""
    stack = [("<module>", "train.py", 6), ("validate", "train.py", line), FORWARD]
    run = runs.trained(path, {**on(engine), "keras": None}, **quiet(**sampled((3, 3 + seconds, stack))))
    keep_source(run, source)
    return list(claims(Case(run)))


def test_an_evaluation_with_gradients_is_asked_about_at_its_line(tmp_path: Path) -> None:
    """`eval()` alone switches none off; it costs memory, and no time is claimed."""
    (claim,) = told(tmp_path / "r")

    assert "nor are they by eval() at line 2" in claim.sentence.before
    assert claim.line == ("train.py", 3)
    assert claim.takes == {}
    assert claim.support is not None
    assert claim.support.agree == 0


@pytest.mark.parametrize(
    "written",
    ["with torch.no_grad():", "@torch.inference_mode()", "p.requires_grad_(False)", "torch.set_grad_enabled(on)"],
)
def test_where_the_script_says_what_has_gradients_nothing_is_asked(tmp_path: Path, written: str) -> None:
    """It may say so of the evaluation, wherever that is."""
    assert told(tmp_path / "r", f"{SOURCE}# {written}\n") == []


def test_other_lines_short_evaluations_and_other_engines_are_none(tmp_path: Path) -> None:
    """A forward pass after `train()`; a hundredth of the work; what has no such gradients."""
    assert told(tmp_path / "a", line=5) == []
    assert told(tmp_path / "b", seconds=0.06) == []
    assert told(tmp_path / "c", engine="tensorflow") == []
