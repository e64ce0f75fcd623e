"""Floating-point operations of operators."""

from __future__ import annotations

from dlprof.ingest.attribution import flops


def test_operations_are_known_where_shapes_are() -> None:
    """Two for each multiplication of a matrix product."""
    assert flops.of_torch("aten::mm", "[[2, 3], [3, 5]]") == 60.0
    assert flops.of_torch("aten::addmm", "[[5], [2, 3], [3, 5], [], []]") == 60.0
    assert flops.of_torch("aten::mm", "[[2, 3], [4, 5]]") is None
    assert flops.of_torch("aten::mm", "not json") is None
