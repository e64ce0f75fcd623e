"""GPUs that stand idle."""

from __future__ import annotations

from pathlib import Path

from tests.unit import runs
from tests.unit.analysis.findings.cases import GPU, Planted, pick, quiet
from tests.unit.runs import MS, S


def planted() -> Planted:
    """12 of each 20 ms, for want of a launch."""
    gap = {"device": 0, "dur_ns": 12 * MS, "host_ns": 12 * MS, "launch_ns": 0, "wait_ns": 0, "window": 0}
    named = {"kernel": "mm", "blamed": "aten::item"}
    gaps = [{**gap, **named, "start_ns": 3 * S + n * 20 * MS + 8 * MS} for n in range(9)]
    return Planted(quiet(**runs.window(GPU), gpu_gaps=gaps))


def test_gaps_that_the_host_left_are_named_on_a_gpu(tmp_path: Path) -> None:
    """12 of each 20 ms, for want of a launch."""
    finding = pick(planted().diagnosis(tmp_path), "gpu-idle")

    assert "aten::item" in finding.claim
