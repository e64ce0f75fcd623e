"""Convolutions that `vmap` made one of many groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.grouped_convolutions import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet
from tests.unit.runs import S

GROUPED = {"op": "conv_general_dilated (5 groups)", "category": "conv", "file": "train.py", "line": 1}
GRADIENT = {**GROUPED, "op": "conv_general_dilated (gradient of groups)"}
PLAIN = {"op": "conv_general_dilated", "category": "conv"}
MAPPED = "y = lax.conv_general_dilated(x, w)\nstep = jax.jit(jax.vmap(member_step))\n"


def told(path: Path, source: str, *kernels: dict[str, Any]) -> list[Claim]:
    """The claims of 6 s of steps on JAX whose window has these kernels."""
    row = {"file": "train.py", "function": "<module>", "first_line": 1, "line": 1, "hits": 1, "time_ns": 0}
    run = runs.trained(path, on("jax"), **quiet(**runs.window(list(kernels)), lines=[row]))
    keep_source(run, source)
    return list(claims(Case(run)))


def test_they_are_named_with_the_line_of_the_convolution_and_that_of_vmap(tmp_path: Path) -> None:
    """10 of 20 ms of a step, another 5 are of plain ones."""
    (claim,) = told(tmp_path / "r", MAPPED, {**GROUPED, "ms": 10}, {**PLAIN, "ms": 5})

    assert claim.line == ("train.py", 1)
    assert "mapped at train.py:2" in claim.next_step
    assert sum(claim.takes.values()) == pytest.approx(0.85 * 0.5 * 6 * S, rel=0.02)


OWN = "x = 1\ny = lax.conv_general_dilated(x, w, feature_group_count=4)\n"


def test_gradients_of_groups_that_the_script_asks_for_are_told_at_its_line(tmp_path: Path) -> None:
    """10 of 20 ms of a step; with a convolution for each group a twentieth is left."""
    (claim,) = told(tmp_path / "r", OWN, {**GRADIENT, "ms": 10}, {**PLAIN, "ms": 5})

    assert claim.line == ("train.py", 2)
    assert "as if each group went with all others" in str(claim.sentence)
    assert sum(claim.takes.values()) == pytest.approx(0.95 * 0.5 * 6 * S, rel=0.02)


def test_gradients_of_groups_of_a_library_have_the_line_that_their_program_tells(tmp_path: Path) -> None:
    """Nothing in the script asks for groups."""
    (claim,) = told(tmp_path / "r", "model = resnext50()\n", {**GRADIENT, "ms": 10})

    assert claim.line == ("train.py", 1)


@pytest.mark.parametrize("source", ["y = lax.conv_general_dilated(x, w)\n", MAPPED + OWN])
def test_groups_themselves_are_the_scripts_own_unless_it_maps(source: str, tmp_path: Path) -> None:
    """Forward, a convolution of groups is about as fast as one for each."""
    assert told(tmp_path / "r", source, {**GROUPED, "ms": 10}) == []


def test_of_a_device_nothing_is_said(tmp_path: Path) -> None:
    """Its libraries have kernels of their own."""
    kernel = {**GROUPED, "ms": 10, "kind": "kernel", "device": 0}

    assert told(tmp_path / "r", MAPPED, kernel) == []


def test_a_small_part_of_the_run_is_no_cause(tmp_path: Path) -> None:
    """1 of 20 ms."""
    assert told(tmp_path / "r", MAPPED, {**GROUPED, "ms": 1}, {**PLAIN, "ms": 10}) == []
