"""What compiled steps save."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import compiled_steps
from dlprof.analysis.findings.case import Case
from tests.unit import runs
from tests.unit.analysis.findings.cases import quiet
from tests.unit.runs import S


@pytest.mark.parametrize(("category", "kept_s"), [("matmul", 3.0), ("elementwise", 0.9)])
def test_products_take_as_long_in_a_graph_and_what_it_joins_does_not(
    category: str, kept_s: float, tmp_path: Path
) -> None:
    """Kernels run for 3 of 6 s of steps."""
    tables = quiet(**runs.window([{"op": "one", "category": category, "ms": 10}]))
    case = Case(runs.trained(tmp_path / "r", **tables))

    assert compiled_steps.kept_kernels(case) == pytest.approx(kept_s * S, rel=0.01)
