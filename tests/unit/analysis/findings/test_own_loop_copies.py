"""Deep copies in the steps of the script's own loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.analysis.findings.cases import Call, diagnosed, pick
from tests.unit.analysis.findings.test_own_loop_python import OWN, looping
from tests.unit.runs import S

COPIES: list[Call] = [("deepcopy", "<python>/copy.py", 153), ("clone", "torch/storage.py", 255)]


def test_copies_that_a_loop_makes_are_named_whoever_moves_the_bytes(tmp_path: Path) -> None:
    """Half of the steps, in operators of the engine."""
    finding = pick(diagnosed(tmp_path / "r", OWN, **looping(*COPIES, kernels_ms=19.5)), "python-overhead")

    assert (finding.heading, finding.line) == ("The loop made deep copies in its steps", 40)
    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)


def test_copies_that_keras_makes_are_its_own(tmp_path: Path) -> None:
    """In its own loop nobody of the script's asks for them."""
    tables = looping(*COPIES, kernels_ms=19.5, how="keras")

    assert all("deep copies" not in finding.heading for finding in diagnosed(tmp_path / "r", **tables).findings)
