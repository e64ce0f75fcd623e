"""Layers that compare all pairs without a product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.analysis.findings.test_one_hot import layer
from tests.unit.runs import S

SUBTRACTS = {"op": "Sub", "category": "elementwise", "layer": "rbf", "direction": "forward", "ms": 4}
SUMS = {"op": "Sum", "category": "reduction", "layer": "rbf", "direction": "backward", "ms": 6}
REST = {"op": "MatMul", "category": "matmul", "layer": "top", "direction": "forward", "ms": 6}


def tables(given: str = "128x180", made: str = "128x320", *weights: str, own: Any = SUMS) -> Tables:
    """A step of 20 ms: 10 for a layer that subtracts and sums, 6 for another one."""
    window = runs.window([SUBTRACTS, own, REST])
    layers = [layer("rbf", given, made, *(weights or ("180x320",))), layer("top", made, "128x7", "320x7")]
    return {**quiet(), **window, "layers": layers}


def test_a_layer_that_could_multiply_and_does_not_is_named(tmp_path: Path) -> None:
    """Four fifths of 10 of 16 ms of kernels, as of 20 ms of a step, in 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **tables()), "wasteful-layer")

    assert finding.claim.startswith(
        "rbf compares 180 numbers of each input with those of each of 320 vectors, one by one and with no product"
    )
    assert finding.at_stake_ns == pytest.approx(6 * S * 8 / 20, rel=0.01)


@pytest.mark.parametrize(
    ("given", "made", "weights"),
    [
        pytest.param("128x180", "128x320", ("320", "180"), id="no matrix"),
        pytest.param("128x180", "128x320", ("180x320", "320x320"), id="two of them"),
        pytest.param("128x180", "128x180", ("180x320",), id="it gives something else"),
        pytest.param("128x64x64", "128x64x64", ("64x64",), id="a slope for each number"),
        pytest.param("128x?", "128x320", ("180x320",), id="lengths that are not known"),
    ],
)
def test_other_layers_are_none(tmp_path: Path, given: str, made: str, weights: tuple[str, ...]) -> None:
    """Their weights are no vectors to compare inputs with."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables(given, made, *weights)))


def test_a_layer_with_a_product_is_none(tmp_path: Path) -> None:
    """It multiplies, and does something around it."""
    product = {**SUMS, "op": "MatMul", "category": "matmul"}

    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables(own=product)))
