"""Distributions that check their arguments."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, Tables, diagnosed, pick, quiet, sampled, slugs
from tests.unit.runs import S

OWN = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
LINE: list[Call] = [("<module>", "train.py", 50), ("policy", "train.py", 44)]
CHECKS: list[Call] = [
    *LINE,
    ("__init__", "torch/distributions/distribution.py", 75),
    ("check", "torch/distributions/constraints.py", 626),
]


def stepping(*calls: Call, until_s: float) -> Tables:
    """6 s of steps of a loop of the script's own, the first of which stand in these frames."""
    loop = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    model: list[Call] = [LINE[0], ("forward", "torch/nn/modules/linear.py", 134)]
    return quiet(spans=[loop], **sampled((2, until_s, list(calls)), (until_s, 8, model)))


def test_checks_of_arguments_are_named_with_the_line_that_makes_the_distribution(tmp_path: Path) -> None:
    """2 of 6 s of the steps; before, of these nothing was said."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **stepping(*CHECKS, until_s=4)), "debug-mode")

    assert (finding.heading, finding.line) == ("Arguments of distributions were validated each time", 44)
    assert finding.at_stake_ns == 2 * S
    assert finding.fix == "torch.distributions.Distribution.set_default_validate_args(False)"


def test_distributions_that_do_not_check_are_no_cause(tmp_path: Path) -> None:
    """The same without the check; and one that takes a fiftieth of the steps."""
    plain = diagnosed(tmp_path / "a", OWN, **stepping(*CHECKS[:-1], until_s=4))
    short = diagnosed(tmp_path / "b", OWN, **stepping(*CHECKS, until_s=2.12))

    assert "debug-mode" not in slugs(plain)
    assert "debug-mode" not in slugs(short)
