"""Copies between host and device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.runs import S


def planted() -> Planted:
    """6 of each 20 ms."""
    return Planted(
        quiet(
            **runs.window(
                [*GPU, {"op": "Memcpy HtoD", "category": "transfer", "kind": "transfer", "device": 0, "ms": 6}]
            )
        )
    )


def test_copies_are_named_on_a_gpu(tmp_path: Path) -> None:
    """6 of each 20 ms."""
    finding = pick(planted().diagnosis(tmp_path), "transfer-bound")

    assert finding.at_stake_ns == pytest.approx(1.8 * S, rel=0.01)
