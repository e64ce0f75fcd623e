"""Weights that are computed again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Tables, diagnosed, on, pick, quiet, slugs
from tests.unit.runs import S

_NAME = "rec.parametrizations.weight.0"


def computing(times: int, layer: str = _NAME) -> Tables:
    """Steps of 20 ms: 6 in a product, and 10 in computing a weight so many times."""
    solve = {"op": "aten::linalg_solve", "category": "other", "layer": layer, "direction": "forward", "ms": 10 / times}
    return quiet(**runs.window([{**KERNELS[0], "ms": 6}, *[solve] * times]))


def test_all_but_one_of_its_computations_are_at_stake(tmp_path: Path) -> None:
    """Nine tenths of 10 ms, and of starting ten of eleven operators: 4 of the 20 ms, of 6 s."""
    finding = pick(diagnosed(tmp_path / "r", **computing(10)), "repeated-forward")

    assert finding.heading == "A weight was computed several times in each step"
    assert f"{_NAME} is computed 10 times in a step" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.9 * (3 + 1.2 * 10 / 11) * S, rel=0.01)
    assert "parametrize.cached()" in str(finding.fix)


@pytest.mark.parametrize("tables", [computing(1), computing(10, "rec")])
def test_once_in_a_step_or_another_layer_is_none(tables: dict[str, Any], tmp_path: Path) -> None:
    """What a layer does ten times it may have to."""
    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", **tables))


def test_an_engine_whose_traces_do_not_tell_has_none(tmp_path: Path) -> None:
    """The name means nothing there."""
    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", on("tensorflow"), **computing(10)))
