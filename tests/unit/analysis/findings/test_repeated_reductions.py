"""Gradients that are reduced several times between two changes of the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.findings import of_ranks
from dlprof.analysis.findings.finding import Finding
from tests.unit import ranked_runs
from tests.unit.runs import S

LINE = {
    "file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 9, "time_ns": S, "source": "loss.backward()",
}  # fmt: skip


def _found(folder: Path, each: int, size: int) -> Finding:
    """What is said of ranks whose gradients are 4 MB."""
    told = {
        "process": {"pid": 42, "exit_code": 0, "signal": None, "wall_ns": S},
        "data_parallel": {"bytes": 4_000_000, "buckets": 2},
    }
    given: dict[str, Any] = {
        f"rank_{one}": {"told": told, "lines": [LINE], "collectives": ranked_runs.reductions(one, each, size)}
        for one in (0, 1)
    }
    run = ranked_runs.make(folder, {0: 5, 1: 5}, **given)
    (finding,) = [one for one in of_ranks.look(run, ranks.of_run(run)).findings if one.slug == "collective-bound"]
    return finding


def test_all_but_one_reduction_a_step_are_too_many(tmp_path: Path) -> None:
    """Four of them, of all gradients: three quarters of the transfer, by 40 steps, with the line that goes back."""
    finding = _found(tmp_path / "r", 4, 4_000_000)

    assert finding.claim.startswith("4 MB of gradients are reduced 4 times a step. When all ranks have come")
    assert (finding.file, finding.line) == ("train.py", 9)
    assert finding.at_stake_ns == pytest.approx(_found(tmp_path / "s", 2, 2_000_000).at_stake_ns * 3 / 4, rel=0.01)
    assert "no_sync" in finding.next_step


def test_parts_of_all_gradients_are_one_reduction(tmp_path: Path) -> None:
    """Two buckets of half of them."""
    finding = _found(tmp_path / "r", 2, 2_000_000)

    assert finding.claim.startswith("When all ranks have come")
    assert "no_sync" not in finding.next_step
