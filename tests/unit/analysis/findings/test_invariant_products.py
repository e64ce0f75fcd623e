"""Products in a loop of a graph that are the same in each of its rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Tables, diagnosed, on, pick, quiet, slugs
from tests.unit.runs import S, span

_LAYER = "decoder/attention/keys/Tensordot"
_TF = on("tensorflow")


def looping(rounds: int, node: str = f"while/{_LAYER}/MatMul", layer: str = _LAYER) -> Tables:
    """Steps of 20 ms: 4 in another product, 4 in one in a loop, and 8 in its gradient."""
    there = {**KERNELS[0], "op": "MatMul", "layer": layer, "ms": 4 / rounds}
    back = {**there, "direction": "backward", "ms": 8 / rounds}
    told = span("repeated_product", 2.5, 2.5, name=node, line=47)
    window = runs.window([{**KERNELS[0], "layer": "decoder/out", "ms": 4}, *[there, back] * rounds])
    return quiet(spans=[runs.fit_span(), told], **window)


def test_all_rounds_but_one_are_at_stake_with_their_gradients(tmp_path: Path) -> None:
    """Seven eighths of 12 of 20 ms, of 6 s, at the line that the graph tells."""
    finding = pick(diagnosed(tmp_path / "r", _TF, **looping(8)), "repeated-forward")

    assert finding.heading == "A product was computed in each round of a loop that is the same in all"
    assert f"The product of {_LAYER} is computed 8 times in a step" in finding.claim
    assert finding.line == 47
    assert finding.at_stake_ns == pytest.approx(7 / 8 * 3.6 * S, rel=0.01)


@pytest.mark.parametrize(
    "tables",
    [looping(1), looping(8, node="while/MatMul"), looping(8, node="while/other/keys/MatMul", layer="decoder/keys")],
)
def test_a_product_that_ran_once_or_is_of_another_layer_is_none(tables: Tables, tmp_path: Path) -> None:
    """An engine may have taken it out of the loop; and nothing is guessed of products in no layer."""
    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", _TF, **tables))


def called(same: int, name: str = "trunk", layer: str = "trunk.0") -> Tables:
    """Steps of 20 ms: 6 in two products of a part that was called twice a step, and 6 in their gradients."""
    there = {**KERNELS[0], "layer": layer, "ms": 3}
    back = {**there, "direction": "backward", "ms": 3}
    detail = json.dumps({"repeated": {"calls": 20, "same": same}})
    told = span("repeated_product", 2.5, 2.5, name=name, line=12, detail=detail)
    window = runs.window([{**KERNELS[0], "layer": "head", "ms": 4}, *[there, back] * 2])
    return quiet(spans=[runs.fit_span(), told], **window)


def test_a_part_that_is_called_again_with_the_same_is_at_stake_with_all_of_its_layers(tmp_path: Path) -> None:
    """Half of 12 of 20 ms, of 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **called(10)), "repeated-forward")

    assert finding.heading == "A part of the model computed the same again"
    assert "trunk.0 is computed 2 times in a step, 50 % of them with the tensor and the weights" in finding.claim
    assert finding.line == 12
    assert finding.at_stake_ns == pytest.approx(0.5 * 3.6 * S, rel=0.01)


@pytest.mark.parametrize("tables", [called(2), called(10, name="tr"), called(10, layer="trunks.0")])
def test_what_is_seldom_the_same_or_of_another_part_is_none(tables: Tables, tmp_path: Path) -> None:
    """A tenth may happen to be."""
    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", **tables))
