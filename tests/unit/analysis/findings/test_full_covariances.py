"""Normal distributions of independent numbers that are given a whole matrix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, keep_source, pick, quiet, sampled, slugs
from tests.unit.runs import S

OWN = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
MADE: list[Call] = [
    ("<module>", "train.py", 9),
    ("policy", "train.py", 2),
    ("__init__", "torch/distributions/multivariate_normal.py", 190),
    ("check", "torch/distributions/constraints.py", 626),
]
BACK: list[Call] = [("<module>", "train.py", 10), ("_engine_run_backward", "torch/autograd/graph.py", 7)]
REST: list[Call] = [("<module>", "train.py", 9), ("forward", "torch/nn/modules/linear.py", 134)]


def of_script(path: Path, text: str) -> Diagnosis:
    """The diagnosis of 6 s of steps: 2 make a distribution, 2 go back, half of that through a decomposition."""
    loop = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    back = [{**KERNELS[0], "op": op, "direction": "backward", "ms": 4} for op in ("aten::mm", "aten::linalg_solve")]
    stood = sampled((2, 4, MADE), (4, 6, BACK), (6, 8, REST))
    run = runs.trained(path, OWN, **quiet(spans=[loop], **runs.window([{**KERNELS[0], "ms": 4}, *back]), **stood))
    keep_source(run, text)
    return diagnose.diagnose(run)


@pytest.mark.parametrize(
    "text",
    [
        "\nd = MultivariateNormal(mean, torch.diag_embed(var))",
        "cov = 0.3 * torch.eye(4)\nd = torch.distributions.MultivariateNormal(mean, covariance_matrix=cov)",
    ],
)
def test_a_matrix_made_of_a_diagonal_is_named_with_its_line_and_its_way_back(tmp_path: Path, text: str) -> None:
    """Nine tenths of 2 s and of half of 2 s. Checking it goes with it."""
    diagnosis = of_script(tmp_path / "r", text)
    finding = pick(diagnosis, "costly-operator")

    assert finding.heading == "Independent numbers were given a whole covariance matrix"
    assert finding.line == 2
    assert finding.at_stake_ns == pytest.approx(0.9 * 3 * S, rel=0.01)
    assert finding.fix == "torch.distributions.Independent(torch.distributions.Normal(mean, std), 1)"
    assert "debug-mode" not in slugs(diagnosis)


@pytest.mark.parametrize(
    "text", ["\nd = MultivariateNormal(mean, scale_tril=factor)", "\nd = Multivariate(", "print 1"]
)
def test_a_matrix_of_which_that_is_not_known_is_none(tmp_path: Path, text: str) -> None:
    """What it is decomposed for may be needed; its checks are told."""
    diagnosis = of_script(tmp_path / "r", text)

    assert [finding.slug for finding in diagnosis.findings if "covariance" in finding.heading] == []
    assert "debug-mode" in slugs(diagnosis)
