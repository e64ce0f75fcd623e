"""A matrix of zeros that is multiplied in full."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.diagnose import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, Tables, keep_source, pick, quiet, slugs
from tests.unit.runs import S

TOLD = runs.manifest(keras=None, engine={"name": "torch", "version": "2.13"})
ADJACENCY = {"name": "model.adj", "shape": [6000, 6000], "zeros": 0.999}


def holding(*matrices: dict[str, Any], category: str = "matmul") -> Tables:
    """Steps of 20 ms, 16 of them in kernels of a category; a loop that has these matrices at hand."""
    return quiet(
        **runs.window([{**KERNELS[0], "category": category}]), spans=[runs.fit_span(training={"zeros": list(matrices)})]
    )


def planted() -> Planted:
    """Products are all that runs."""
    return Planted(holding(ADJACENCY), TOLD)


def written(folder: Path, text: str) -> Diagnosis:
    """Of the same in a script with this line."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 3, "time_ns": 1, "source": text}
    run = runs.trained(folder / "r", TOLD, **holding(ADJACENCY), lines=[row])
    keep_source(run, text + "\n")
    return diagnose(run)


def test_seven_tenths_of_the_products_are_at_stake(tmp_path: Path) -> None:
    """4.8 s of kernels; it is a question, for nobody saw the matrix in them."""
    finding = pick(planted().diagnosis(tmp_path), "dense-zeros")

    assert finding.at_stake_ns == pytest.approx(0.7 * 4.8 * S, rel=0.01)
    assert "model.adj (6,000 x 6,000) is written out, of which 99.9 % are zeros" in finding.claim
    assert finding.is_question


@pytest.mark.parametrize("text", ["h = torch.mm(self.adj, h)", "h = adj @ h", "h = h @ self.adj"])
def test_a_line_that_multiplies_it_makes_a_claim_of_the_question(text: str, tmp_path: Path) -> None:
    """By its name."""
    finding = pick(written(tmp_path, text), "dense-zeros")

    assert (finding.line, finding.is_question) == (1, False)


def test_without_products_it_costs_nothing(tmp_path: Path) -> None:
    """Convolutions have the time."""
    tables = holding(ADJACENCY, category="convolution")

    assert "dense-zeros" not in slugs(diagnose(runs.trained(tmp_path / "r", TOLD, **tables)))


def test_a_loop_without_such_a_matrix_is_not_judged(tmp_path: Path) -> None:
    """None was at hand."""
    assert "dense-zeros" not in slugs(diagnose(runs.trained(tmp_path / "r", TOLD, **holding())))
