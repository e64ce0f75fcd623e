"""One-hot arrays that a layer multiplies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import S

MAKES = {"op": "OneHot", "category": "embedding", "layer": "words", "direction": "forward", "ms": 4}
PRODUCT = {"op": "MatMul", "category": "matmul", "layer": "vectors", "direction": "forward", "ms": 2}
REST = {"op": "MatMul", "category": "matmul", "layer": "top", "direction": "forward", "ms": 4}


def layer(name: str, inputs: str, output: str, *weights: str) -> dict[str, Any]:
    """A row of `layers`."""
    return {
        "model": 0, "layer": name, "class": "Dense" if weights else "Lambda", "inputs": [inputs], "output": output,
        "dtype": "float32", "calls": 1, "trained": bool(weights), "first": False,
        "weight_names": ["kernel"] * len(weights), "weights": list(weights), "bytes_per_value": 4,
    }  # fmt: skip


def tables(op: str = "OneHot", columns: int = 6000) -> Tables:
    """A step of 20 ms: 4 for an array, 4 for its product forward and 6 backward, 4 for another layer."""
    window = runs.window([{**MAKES, "op": op}, PRODUCT, {**PRODUCT, "direction": "backward", "ms": 6}, REST])
    layers = [
        layer("words", "64x12", f"64x12x{columns}"),
        layer("vectors", "64x12x6000", "64x12x32", "6000x32", "32"),
        layer("top", "64x32", "64x20", "32x20"),
    ]
    return {**quiet(), **window, "layers": layers}


@pytest.mark.parametrize("op", ["OneHot", "aten::one_hot"])
def test_a_product_with_a_one_hot_array_is_named_with_the_layer_that_looks_rows_up(tmp_path: Path, op: str) -> None:
    """The array, and the product forward and backward: 12 of 20 ms of 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **tables(op)), "wasteful-layer")

    assert finding.claim.startswith("vectors multiplies a one-hot array of 6,000 columns with its weights (6,000 x 32)")
    assert finding.at_stake_ns == pytest.approx(6 * S * 12 / 20, rel=0.01)
    assert finding.fix == "layers.Embedding(6000, 32) in place of one_hot and the product"


def test_an_array_of_other_columns_is_not_what_is_multiplied(tmp_path: Path) -> None:
    """Labels, for instance."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables(columns=20)))


def test_batches_that_are_one_hot_need_no_operator(tmp_path: Path) -> None:
    """The script made them itself, with NumPy: the product forward and backward is at stake, 8 of 20 ms of 6 s."""
    told = {**tables("Cast"), "spans": [runs.fit_span(one_hot=[6000])]}
    finding = pick(diagnosed(tmp_path / "r", **told), "wasteful-layer")

    assert finding.claim.startswith("vectors multiplies a one-hot array of 6,000 columns with its weights (6,000 x 32)")
    assert finding.at_stake_ns == pytest.approx(6 * S * 8 / 20, rel=0.01)


def test_without_such_an_operator_a_product_is_a_product(tmp_path: Path) -> None:
    """However wide its input is."""
    assert "wasteful-layer" not in slugs(diagnosed(tmp_path / "r", **tables("Cast")))


def test_the_line_is_one_that_makes_the_array_or_the_layer_for_it(tmp_path: Path) -> None:
    """Said before: the first line of a class that is called so."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "hits": 1, "time_ns": 0}
    texts = {3: "class OneHot(layers.Layer):", 9: "    x = OneHot(6000)(words)"}
    lines = [{**row, "line": number, "source": text} for number, text in texts.items()]

    assert pick(diagnosed(tmp_path / "r", **tables(), lines=lines), "wasteful-layer").line == 9
