"""`dlprof kernels`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.analysis.kernels import GROUPS
from dlprof.cli import kernels
from tests.unit.runs import MS, dlprof, trained, window


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Ten steps of 5 ms of kernels each."""
    return trained(tmp_path / "r", **window([{"op": "MatMul", "category": "matmul", "ms": 5}])).folder.path


def test_every_grouping_can_be_asked_for() -> None:
    """None is missing in the flag."""
    assert set(kernels.BY) == set(GROUPS)


def test_json_has_the_phase_that_was_asked_for(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kernels of other phases are left out."""
    assert dlprof("kernels", run, "--by", "category", "--phase", "fit", "--json") == 0
    inside = json.loads(capsys.readouterr().out)
    assert dlprof("kernels", run, "--by", "category", "--phase", "evaluate", "--json") == 0
    outside = json.loads(capsys.readouterr().out)

    assert (inside["by"], inside["phase"], inside["all_ns"]) == ("category", "fit", 50 * MS)
    assert (outside["rows"], outside["all_ns"]) == ([], 0)


def test_without_json_it_is_a_table(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By layer, unless something else is asked for."""
    assert dlprof("kernels", run, "--plain") == 0

    assert capsys.readouterr().out.split()[:2] == ["layer", "direction"]
