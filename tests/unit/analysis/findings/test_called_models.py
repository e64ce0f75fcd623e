"""Models that the script's own loop calls many times in each step."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, Tables, diagnosed, quiet, sampled
from tests.unit.runs import S

OWN = runs.manifest(keras=None)
CALL: Call = ("Module._call_impl", "torch/nn/modules/module.py", 1762)
ACTS: list[Call] = [("<module>", "train.py", 31), CALL, ("Linear.forward", "torch/nn/modules/linear.py", 134)]
DRAWS: list[Call] = [("<module>", "train.py", 31), ("Categorical.sample", "torch/distributions/categorical.py", 134)]
WALKS: list[Call] = [("<module>", "train.py", 33), ("Env.step", "train.py", 15)]
LEARNS: list[Call] = [("<module>", "train.py", 40), CALL, ("Net.forward", "train.py", 31), CALL]


def told(folder: Path, acts: list[Call] = ACTS, *, hits: int = 300 * 100, gradients: int = 2) -> Finding | None:
    """What is told of an agent whose layers start 100 products a step, in 2 of 6 s of its steps.

    Args:
        folder: Of the run.
        acts: Where it stands then, for half of the time.
        hits: How often the line ran, in 300 steps.
        gradients: Products of the way back in a step.
    """
    small = {"op": "aten::addmm", "category": "matmul", "layer": "0", "direction": "forward", "ms": 0.02}
    back = {**small, "op": "aten::mm", "direction": "backward"}
    window = runs.window([{**KERNELS[0], "ms": 8}, *[small] * 100, *[back] * gradients])
    line = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 31, "hits": hits, "time_ns": 2 * S,
            "how": "exact"}  # fmt: skip
    stood: Tables = sampled((2, 3, acts), (3, 4, DRAWS), (4, 8, WALKS))
    found = diagnosed(folder, OWN, **quiet(lines=[line], **stood, **window)).findings
    return next((one for one in found if one.slug == "python-overhead"), None)


def test_the_line_that_calls_the_model_is_told_with_all_that_it_does(tmp_path: Path) -> None:
    """Of its 2 s nine tenths: the model's and those of what is done with each answer."""
    finding = told(tmp_path / "r")

    assert finding is not None
    assert finding.heading == "The model was called for few rows at a time"
    assert (finding.file, finding.line) == ("train.py", 31)
    assert finding.at_stake_ns == pytest.approx(0.9 * 2 * S, rel=0.01)
    assert "calls its model 100 times a step, for few rows each, and takes no gradient of that" in finding.claim


@pytest.mark.parametrize(
    ("acts", "hits", "gradients"),
    [(LEARNS, 30_000, 2), (ACTS, 300, 2), (ACTS, 30_000, 150)],
    ids=["from inside of a model", "a line that runs once a step", "what a gradient is taken of"],
)
def test_layers_that_go_through_rows_by_themselves_are_told_as_such(
    acts: list[Call], hits: int, gradients: int, tmp_path: Path
) -> None:
    """No loop of the script's is what starts them so often."""
    finding = told(tmp_path / "r", acts, hits=hits, gradients=gradients)

    assert finding is not None
    assert finding.heading == "A layer went through its rows one by one"
