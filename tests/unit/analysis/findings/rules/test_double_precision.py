"""Models of 64-bit floats."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """The float type and the weights are of 64 bits."""
    return Planted(
        quiet(spans=[runs.fit_span(training={"floatx": "float64", "weights": {"count": 10, "dtype": "float64"}})])
    )


def test_64_bit_floats_cost_a_part_of_the_kernels(tmp_path: Path) -> None:
    """16 of each 20 ms are kernels: 4.8 s, of which 0.3 on torch."""
    finding = pick(planted().diagnosis(tmp_path), "double-precision")

    assert finding.at_stake_ns == pytest.approx(0.3 * 4.8 * S, rel=0.01)
