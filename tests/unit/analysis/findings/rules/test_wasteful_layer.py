"""Layers that are given whole maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, diagnosed, pick, quiet, slugs
from tests.unit.analysis.findings.test_heavy_weights import parameter
from tests.unit.runs import S

KERNELS = [
    {"op": "conv", "category": "conv", "layer": "conv", "direction": "forward", "ms": 4},
    {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 8},
    {"op": "adam", "category": "optimiser", "layer": "adam", "direction": "update", "ms": 8},
]
"""A step of 20 ms, four fifths of which are one layer."""


def tables(inputs: str = "128x16x16x32", features: int = 8192) -> Tables:
    """A convolution, what it gives flattened, and a layer of 512 units."""
    flatten: dict[str, Any] = {
        "model": 0, "layer": "flatten", "class": "Flatten", "inputs": [inputs], "output": f"128x{features}",
        "dtype": "float32", "calls": 1, "trained": False, "first": False, "weight_names": [], "weights": [],
        "bytes_per_value": 4,
    }  # fmt: skip
    owners = [parameter("dense", f"{features}x512"), parameter("conv", "3x3x3x32")]
    return {**quiet(), **runs.window(KERNELS), "memory_owners": owners, "layers": [flatten]}


def planted() -> Planted:
    """256 positions of 32 channels side by side."""
    return Planted(tables())


def test_a_layer_that_is_given_flattened_maps_is_named(tmp_path: Path) -> None:
    """Of 256 positions one is left by pooling: 255 of 256 parts of 2.4 s and 2.4 s."""
    finding = pick(planted().diagnosis(tmp_path), "wasteful-layer")

    assert finding.at_stake_ns == pytest.approx(4.8 * S * 255 / 256, rel=0.01)
    assert "dense (8,192 x 512) holds 100 % of the weights, because it is given 256 positions" in finding.claim


def test_flattening_a_few_positions_is_usual(tmp_path: Path) -> None:
    """2 by 2 positions of 2048 channels, as at the end of a deep network."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables("128x2x2x2048")))


def test_rows_of_features_are_no_maps(tmp_path: Path) -> None:
    """Nothing was flattened: they are that wide."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables("128x8192")))


def test_without_a_graph_of_layers_convolutions_tell_the_channels(tmp_path: Path) -> None:
    """A loop of PyTorch: weights of 512 times 8192, and a convolution that gives 32 channels."""
    owners = [parameter("dense", "512x8192"), parameter("conv", "32x3x3x3")]
    changed = {**tables(), "memory_owners": owners, "layers": []}

    assert "256 positions" in pick(diagnosed(tmp_path / "a", **changed), "wasteful-layer").claim
    alone = {**changed, "memory_owners": owners[:1]}
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "b", **alone))


def test_one_layer_among_others_is_no_cause(tmp_path: Path) -> None:
    """Its products and its update take 7 of 20 ms."""
    small = [{**KERNELS[0], "ms": 13}, {**KERNELS[1], "ms": 4}, {**KERNELS[2], "ms": 3}]

    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **{**tables(), **runs.window(small)}))
