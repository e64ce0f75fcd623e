"""Operators that only turn arrays around."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Planted, pick, quiet
from tests.unit.analysis.findings.foreign import found
from tests.unit.runs import S


def planted() -> Planted:
    """A quarter of the step."""
    turning = {"op": "aten::transpose_copy", "category": "data movement", "layer": "permute", "direction": "forward"}
    return Planted(quiet(**runs.window([{**KERNELS[0], "ms": 11}, {**turning, "ms": 5}])))


def test_transposes_are_named_with_their_layer(tmp_path: Path) -> None:
    """A quarter of the step."""
    finding = pick(planted().diagnosis(tmp_path), "layout-transpose")

    assert finding.at_stake_ns == pytest.approx(1.5 * S, rel=0.01)
    assert "most of all in permute (forward)" in finding.claim


@pytest.mark.slow
def test_kernels_of_a_real_trace_turn_images_around() -> None:
    """CuDNN's nchwToNhwc and nhwcToNchw inside of convolutions: 9 % of the kernels' time."""
    finding = found("kineto/hta_a100_nccl_rank0of2.json.gz", "layout-transpose")

    assert finding is not None
    assert "9 % of the kernels' time" in finding.claim
    assert "nchwToNhwcKernel" in finding.claim


def test_a_real_trace_without_transposes_does_not_show_it() -> None:
    """Embeddings and products."""
    assert found("hta_rank0.json.gz", "layout-transpose") is None
