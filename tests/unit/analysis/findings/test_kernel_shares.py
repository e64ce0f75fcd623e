"""Kernels that rules choose by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import kernel_shares
from dlprof.analysis.findings.case import Case
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Category, StepPart
from tests.unit import runs
from tests.unit.analysis.findings.cases import quiet

MATMUL = {"category": "matmul", "layer": "dense", "direction": "forward", "kind": "kernel", "device": 0}
SLOW, FAST = {**MATMUL, "op": "sgemm", "ms": 6}, {**MATMUL, "op": "tensorop", "ms": 2}
OTHER = {**MATMUL, "op": "relu", "category": "elementwise", "ms": 4}


def test_chosen_kernels_are_shares_of_their_category(tmp_path: Path) -> None:
    """6 of 8 ms of products, 6 of 12 ms in all; half of them is three eighths of the leaf."""
    case = Case(runs.trained(tmp_path / "r", **quiet(**runs.window([SLOW, FAST, OTHER]))))
    leaf = Tree.FIT_STEPS / StepPart.KERNELS / Category.MATMUL

    chosen = kernel_shares.chosen(case, lambda row: kernel_shares.name(row) == "sgemm")

    assert (chosen.share, dict(chosen.by_category)) == (0.5, {Category.MATMUL: 0.75})
    assert chosen.takes(case, 0.5) == {leaf: pytest.approx(0.375 * case.available[leaf], abs=2)}
