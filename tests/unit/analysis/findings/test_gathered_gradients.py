"""Gradients of rows that were gathered by their numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.gathered_gradients import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, keep_source, quiet, sampled
from tests.unit.runs import S

PRODUCT = {"op": "aten::mm", "category": "matmul", "direction": "forward"}
GRADIENT = {"op": "autograd::engine::evaluate_function: IndexBackward0", "category": "other", "direction": "backward"}
GATHERS: list[Call] = [("<module>", "train.py", 1), ("layer", "train.py", 2)]


def told(path: Path, *kernels: dict[str, Any]) -> list[Claim]:
    """The claims of 6 s of steps whose window has these kernels; half of the time stands where rows are gathered."""
    run = runs.trained(path, **quiet(**runs.window(list(kernels)), **sampled((2, 5, GATHERS), (5, 8, GATHERS[:1]))))
    keep_source(run, "loss = step(graph)\n    messages = x[src]\n")
    return list(claims(Case(run)))


def test_gradients_of_gathered_rows_are_named_with_the_line_that_gathers(tmp_path: Path) -> None:
    """They have half of the kernels' time: 16 of 20 ms of a step."""
    (claim,) = told(tmp_path / "r", {**PRODUCT, "ms": 8}, {**GRADIENT, "ms": 8})

    assert claim.line == ("train.py", 2)
    assert sum(claim.takes.values()) == pytest.approx(0.8 * 0.5 * 0.8 * 6 * S, rel=0.02)
    assert claim.fix == "x.index_select(0, numbers) in place of x[numbers]"


def test_a_small_part_of_the_kernels_is_no_cause(tmp_path: Path) -> None:
    """A tenth."""
    assert told(tmp_path / "r", {**PRODUCT, "ms": 9}, {**GRADIENT, "ms": 1}) == []
