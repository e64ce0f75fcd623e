"""Products that are multiplied again, in the costly order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, keep_source, pick, quiet, sampled, slugs
from tests.unit.runs import S

CHAIN = "pairs = torch.bmm(q, k) / 8\ny = torch.bmm(pairs, v)\nother = head(y)"
HEADING = "A product was multiplied again in the costly order"
PRODUCTS = {"op": "aten::bmm", "category": "matmul", "layer": "context", "direction": "forward", "ms": 8}
FACTORS = {"op": "aten::div", "category": "elementwise", "layer": "context", "direction": "forward", "ms": 4}
_CALLED: list[Call] = [("<module>", "train.py", 9), ("_call_impl", "torch/nn/modules/module.py", 9)]


def of_script(
    path: Path, *kernels: dict[str, Any], text: str = CHAIN, at: tuple[int, ...] = (1, 2), **tables: Any
) -> Diagnosis:
    """A run with steps of 20 ms in which these kernels run, whose stacks stand at lines for as long as each other."""
    each = 6 / len(at)
    stood = [(2 + n * each, 2 + (n + 1) * each, [*_CALLED, ("forward", "train.py", line)]) for n, line in enumerate(at)]
    run = runs.trained(path, **{**quiet(**runs.window(list(kernels)), **sampled(*stood)), **tables})
    keep_source(run, text)
    return diagnose.diagnose(run)


def test_a_large_array_between_two_products_is_named_with_its_line(tmp_path: Path) -> None:
    """Nine tenths of 12 of 20 ms, of 6 s: the factor takes half as long as the products."""
    finding = pick(of_script(tmp_path / "r", PRODUCTS, FACTORS), "costly-operator")

    assert (finding.heading, finding.line) == (HEADING, 1)
    assert finding.at_stake_ns == pytest.approx(3.24 * S, rel=0.01)
    assert finding.fix == "the product of the other two arrays first"


def test_where_a_factor_takes_little_it_is_a_question(tmp_path: Path) -> None:
    """A sixteenth: the array between may be large."""
    sure = pick(of_script(tmp_path / "a", PRODUCTS, FACTORS), "costly-operator")
    asked = pick(of_script(tmp_path / "b", {**PRODUCTS, "ms": 16}, {**FACTORS, "ms": 1}), "costly-operator")

    assert "the array between them may be large" in asked.claim
    assert asked.confidence < sure.confidence


def test_where_nothing_tells_that_the_array_is_large_nothing_is_said(tmp_path: Path) -> None:
    """Of two products with small arrays between them the order matters little."""
    assert "costly-operator" not in slugs(of_script(tmp_path / "r", {**PRODUCTS, "ms": 16}, {**FACTORS, "ms": 0.1}))


def test_a_softmax_between_them_needs_all_pairs(tmp_path: Path) -> None:
    """That is attention."""
    text = CHAIN.replace(" / 8", ".softmax(-1)")

    assert "costly-operator" not in slugs(of_script(tmp_path / "r", PRODUCTS, FACTORS, text=text))


def test_other_products_are_not_the_chain_s(tmp_path: Path) -> None:
    """Its lines stood for 2 of 6 s, a third of the steps; its products and those of other lines ran for 12 of 20 ms."""
    finding = pick(of_script(tmp_path / "r", PRODUCTS, FACTORS, at=(1, 3, 3)), "costly-operator")

    assert finding.at_stake_ns == pytest.approx(0.9 * 2 * S, rel=0.02)


def test_of_layers_those_of_its_class_count(tmp_path: Path) -> None:
    """Another layer's products take as long."""
    rows = [{"model": 0, "layer": "context", "class": "Block"}, {"model": 0, "layer": "head", "class": "Dense"}]
    text = "class Block:\n    def forward(self):\n        return torch.bmm(torch.bmm(q, k) / 8, v)\n"
    both = [{**PRODUCTS, "ms": 4}, {**FACTORS, "ms": 4}, {**PRODUCTS, "layer": "head"}]
    finding = pick(of_script(tmp_path / "r", *both, text=text, at=(3,), layers=rows), "costly-operator")

    assert finding.line == 3
    assert finding.at_stake_ns == pytest.approx(0.9 * 8 / 20 * 6 * S, rel=0.01)
