"""An einsum of several arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, keep_source, pick, quiet, sampled, slugs
from tests.unit.runs import S

_THREE = 'out = torch.einsum("bnd,bmd,bme->bne", q, k, v)'
_TWO = 'out = torch.einsum("bnd,bmd->bnm", q, k)'
_BATCHED = {**KERNELS[0], "op": "aten::bmm", "ms": 10}
_CALLED: list[Call] = [("<module>", "train.py", 3), ("_call_impl", "torch/nn/modules/module.py", 9)]


def of_script(path: Path, *lines: str, told: dict[str, Any] | None = None) -> Diagnosis:
    """The diagnosis of a run whose steps are half products of many matrices, its stacks in these lines in turn."""
    each = 6 / len(lines)
    stood = [(2 + n * each, 2 + (n + 1) * each, [*_CALLED, ("forward", "train.py", n + 1)]) for n in range(len(lines))]
    run = runs.trained(path, told, **quiet(**runs.window([_BATCHED]), **sampled(*stood)))
    keep_source(run, "\n".join(lines))
    return diagnose.diagnose(run)


def test_products_of_three_arrays_at_once_are_named_with_their_line(tmp_path: Path) -> None:
    """Eight tenths of 10 of 20 ms, of 6 s."""
    finding = pick(of_script(tmp_path / "r", _THREE), "costly-operator")

    assert finding.heading == "One einsum multiplied several arrays from left to right"
    assert finding.line == 1
    assert finding.at_stake_ns == pytest.approx(2.4 * S, rel=0.01)
    assert finding.fix == "pip install opt_einsum, or two einsums: first the product whose result is small"


def test_other_lines_that_multiply_have_their_share(tmp_path: Path) -> None:
    """Of three lines that stood for as long as each other."""
    finding = pick(of_script(tmp_path / "r", _THREE, "out = a @ b", _THREE), "costly-operator")

    assert finding.at_stake_ns == pytest.approx(2 / 3 * 2.4 * S, rel=0.01)


def test_two_arrays_have_one_order(tmp_path: Path) -> None:
    """Nor has a file that is no Python."""
    assert "costly-operator" not in slugs(of_script(tmp_path / "a", _TWO))
    assert "costly-operator" not in slugs(of_script(tmp_path / "b", _THREE, "print 1"))


def test_where_the_engine_finds_the_best_order_there_is_nothing_to_say(tmp_path: Path) -> None:
    """The package is installed."""
    told = runs.manifest(packages={"torch": "2.13", "opt_einsum": "3.4"})

    assert "costly-operator" not in slugs(of_script(tmp_path / "r", _THREE, told=told))
