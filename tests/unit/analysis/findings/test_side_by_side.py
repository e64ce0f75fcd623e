"""Layers that are alike, called one by one in a loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, keep_source, quiet, sampled
from tests.unit.runs import S

IN_BRACKETS = "def forward(self, x):\n    return cat([head(x) for head in self.heads])\n"
IN_A_LOOP = "def forward(self, x):\n    for i, one in enumerate(self.columns):\n        found.append(one(x[:, i]))\n"
ONE_AFTER_THE_OTHER = "def forward(self, x):\n    for one in self.blocks:\n        x = one(x)\n"


def window(layers: int, ms: float = 0.02, large_ms: float = 1) -> dict[str, Any]:
    """So many layers that start a product once in each step of 20 ms, beside a large one."""
    return runs.window([{**KERNELS[0], "ms": large_ms}, *small(layers, ms)])


def small(layers: int, ms: float = 0.02) -> list[dict[str, Any]]:
    """Their products."""
    return [
        {"op": "MatMul", "category": "matmul", "layer": f"heads.{number}", "direction": "forward", "ms": ms}
        for number in range(layers)
    ]


def parameter(layer: str) -> dict[str, Any]:
    """A layer's array of weights, as `memory_owners` has it."""
    return {"layer": layer, "name": "weight", "model": 1, "kind": "parameters", "shape": "3x16", "bytes": 192}


def told(path: Path, traced: dict[str, Any], text: str = IN_BRACKETS, line: int = 2) -> Finding | None:
    """What is said of them, where the main thread stands in a line that calls them, for half of the steps."""
    calls: list[Call] = [("<module>", "train.py", 9), ("_call_impl", "torch/nn/modules/module.py", 9)]
    inside: list[Call] = [*calls, ("forward", "train.py", line), ("forward", "torch/nn/modules/linear.py", 9)]
    stood = sampled((2, 5, inside), (5, 8, calls[:1]))
    run = runs.trained(path, None, **quiet(**traced, **stood))
    keep_source(run, text)
    found = diagnose.diagnose(run).findings
    return next((one for one in found if one.heading == "Layers that are alike were called one by one"), None)


def test_layers_in_brackets_are_named_with_their_line(tmp_path: Path) -> None:
    """A hundred have 2 ms of 3; 20 µs are a fifth of what has enough to do, so nine tenths of four fifths are saved."""
    finding = told(tmp_path / "r", window(100))

    assert finding is not None
    assert (finding.slug, finding.line) == ("dispatch-bound", 2)
    assert "100 layers such as heads.0 are called one by one, and MatMul takes 20.0 µs in each" in finding.claim
    assert finding.at_stake_ns == pytest.approx(6 * S * 2 / 3 * 0.9 * 0.8 * 0.99, rel=0.01)


def test_layers_in_a_loop_whose_turns_need_nothing_of_each_other_are_named(tmp_path: Path) -> None:
    """One for each column."""
    finding = told(tmp_path / "r", window(100), IN_A_LOOP, 3)

    assert finding is not None
    assert finding.line == 3


def test_layers_of_a_deep_network_are_none(tmp_path: Path) -> None:
    """Each takes what the one before it gave."""
    assert told(tmp_path / "r", window(100), ONE_AFTER_THE_OTHER, 3) is None


def test_a_few_layers_are_none(tmp_path: Path) -> None:
    """Seven heads of attention."""
    assert told(tmp_path / "r", window(7, large_ms=0.01)) is None


def test_layers_with_enough_to_do_are_none(tmp_path: Path) -> None:
    """0.15 ms each."""
    assert told(tmp_path / "r", window(100, ms=0.15)) is None


def test_layers_beside_much_else_are_none(tmp_path: Path) -> None:
    """They have a seventh of the operators' time, and no samples stand in their loop."""
    assert told(tmp_path / "r", window(100, large_ms=12), "\n" * 9, 9) is None


@pytest.mark.parametrize(("updates", "share"), [(125, 0.5 + 0.25 * 0.8), (2, 0.5)])
def test_updating_their_weights_one_array_at_a_time_is_part_of_it(tmp_path: Path, updates: int, share: float) -> None:
    """A quarter of the operators' time, and 100 of 125 arrays are theirs; two operators update any number of arrays."""
    update = {"op": "Adam", "category": "optimiser", "layer": "adam", "direction": "update", "ms": 1 / updates}
    rows = [{**KERNELS[0], "ms": 1}, *small(100), *[dict(update) for _ in range(updates)]]
    traced = runs.window(rows)
    names = [f"heads.{number}" for number in range(100)] + [f"others.{number}" for number in range(25)]
    traced["memory_owners"] = [parameter(name) for name in names]
    finding = told(tmp_path / "r", traced)

    assert finding is not None
    assert finding.at_stake_ns == pytest.approx(6 * S * share * 0.9 * 0.8 * 0.99, rel=0.01)
