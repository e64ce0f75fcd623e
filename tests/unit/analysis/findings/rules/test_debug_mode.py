"""Switches for debugging."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Planted, diagnosed, pick, quiet, sampled
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Torch detects anomalies."""
    return Planted(quiet(spans=[runs.fit_span(training={"flags": {"torch.autograd.set_detect_anomaly": True}})]))


def test_a_switch_for_debugging_is_named(tmp_path: Path) -> None:
    """With what to do without it."""
    finding = pick(planted().diagnosis(tmp_path), "debug-mode")

    assert "torch.autograd.set_detect_anomaly" in finding.claim
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"flags_off": ["torch.autograd.set_detect_anomaly"]}


def test_detecting_anomalies_costs_twice_the_stacks_that_torch_keeps(tmp_path: Path) -> None:
    """A quarter of the 6 s of steps in Python's traceback: half is at stake."""
    keeping = [*FIT, ("format_list", "<python>/traceback.py", 4)]
    tables = quiet(
        spans=[runs.fit_span(training={"flags": {"torch.autograd.set_detect_anomaly": True}})],
        **sampled((2, 3.5, keeping), (3.5, 8, FIT)),
    )

    assert pick(diagnosed(tmp_path / "r", **tables), "debug-mode").at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_without_onednn_half_of_the_matrix_products_is_at_stake(tmp_path: Path) -> None:
    """They take 16 of each 20 ms of 6 s."""
    flags = {"TF_ENABLE_ONEDNN_OPTS=0": True}
    finding = pick(diagnosed(tmp_path / "r", **quiet(spans=[runs.fit_span(training={"flags": flags})])), "debug-mode")

    assert finding.at_stake_ns == pytest.approx(2_400 * MS, rel=0.01)
    assert finding.remedy is not None
    assert finding.remedy.environment == {"TF_ENABLE_ONEDNN_OPTS": None}
